// Folds equal siblings into one node: many nodes of one type between the same nodes. Nodes that are open, found or failed stay apart. It is
// pure.

import type { DrawnEdge, DrawnGraph, DrawnNode } from "@pawl/client";

export interface FoldedGraph extends DrawnGraph {
  /** The nodes in each group, by the id under which it is drawn. */
  readonly groups: ReadonlyMap<string, readonly DrawnNode[]>;
}

/** More siblings than this are folded. */
export const FOLD_FROM = 8;
/** No node has such an id. */
const GROUP = "group:";

/** Whether an id is that of a group. */
export const isGroupId = (id: string): boolean => id.startsWith(GROUP);

/** The graph with its equal siblings folded, except for those in `apart`. */
export function foldGraph(graph: DrawnGraph, apart: ReadonlySet<string>): FoldedGraph {
  const groups = new Map<string, readonly DrawnNode[]>();
  const groupOf = new Map<string, string>();
  for (const siblings of equalSiblings(graph)) {
    const members = siblings.filter(({ id }) => !apart.has(id));
    const [first] = siblings;
    if (first === undefined || members.length < 2) continue;
    const groupId = GROUP + first.id;
    groups.set(groupId, members);
    for (const { id } of members) groupOf.set(id, groupId);
  }
  if (groups.size === 0) return { ...graph, groups };
  return {
    title: graph.title,
    nodes: drawn(graph, groups, groupOf),
    edges: joined(graph, groupOf),
    groups,
  };
}

/** Nodes of one type with the same sources and targets, if there are many. */
function equalSiblings({ nodes, edges }: DrawnGraph): readonly (readonly DrawnNode[])[] {
  const ends = new Map(nodes.map(({ id }) => [id, [] as string[]]));
  for (const { source, target, handle } of edges) {
    ends.get(source)?.push(`to ${target} by ${handle}`);
    ends.get(target)?.push(`from ${source} by ${handle}`);
  }
  const signature = ({ id, type }: DrawnNode): string =>
    JSON.stringify([type, (ends.get(id) ?? []).toSorted()]);
  return [...Map.groupBy(nodes, signature).values()].filter(({ length }) => length > FOLD_FROM);
}

/** The single nodes, and each group at the position of its first member. */
function drawn(
  { nodes }: DrawnGraph,
  groups: FoldedGraph["groups"],
  groupOf: ReadonlyMap<string, string>,
): DrawnNode[] {
  const placed = new Set<string>();
  return nodes.flatMap((node) => {
    const groupId = groupOf.get(node.id);
    if (groupId === undefined) return [node];
    if (placed.has(groupId)) return [];
    placed.add(groupId);
    const members = groups.get(groupId) ?? [];
    const label = `${members.length} × ${node.type}`;
    return [{ id: groupId, type: rangeText(members), label, config: "{}" }];
  });
}

/** `shop-1 … shop-200`. */
function rangeText(members: readonly DrawnNode[]): string {
  const name = (node: DrawnNode | undefined): string => node?.label || (node?.id ?? "");
  return `${name(members[0])} … ${name(members.at(-1))}`;
}

/** The edges between drawn nodes and groups, each once. */
function joined({ edges }: DrawnGraph, groupOf: ReadonlyMap<string, string>): DrawnEdge[] {
  const once = new Map<string, DrawnEdge>();
  for (const edge of edges) {
    const source = groupOf.get(edge.source) ?? edge.source;
    const target = groupOf.get(edge.target) ?? edge.target;
    const isFolded = source !== edge.source || target !== edge.target;
    const id = isFolded ? `${source} ${edge.handle} ${target}` : edge.id;
    if (!once.has(id)) once.set(id, { ...edge, id, source, target });
  }
  return [...once.values()];
}
