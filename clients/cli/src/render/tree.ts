// A definition's graph as rows of a tree. A chain runs straight down, a fork indents its branches, and a join returns to the level of its
// fork. Each node is placed under its immediate dominator: the last node on every path to it.

import { type Json, readGraph } from "@pawl/client";

export interface TreeRow {
  readonly nodeId: string;
  readonly label: string;
  readonly type: string;
  /** Box-drawing before the node. */
  readonly prefix: string;
  /** The node whose branches this row is in. Empty above the first fork. */
  readonly fork: string;
}

interface TreeNode {
  readonly id: string;
  readonly label: string;
  readonly type: string;
  readonly parents: string[];
  readonly children: string[];
}

/** The deepest level of the drawing. Deeper nodes are drawn at this level, because lines are limited. */
const LEVELS_MAX = 8;

/** Rows in drawing order; nodes on a cycle, which no valid definition has, are left out. */
export function treeRows(definition: Json | undefined): readonly TreeRow[] {
  const nodes = readNodes(definition);
  const order = topologicalOrder(nodes);
  const dominated = dominatorChildren(nodes, order);
  const rows: TreeRow[] = [];
  interface Pending {
    readonly id: string;
    readonly own: string;
    readonly below: string;
    readonly level: number;
    readonly fork: string;
  }
  const roots = dominated.get("") ?? [];
  const stack: Pending[] = roots
    .toReversed()
    .map((id) => ({ id, own: "", below: "", level: 0, fork: "" }));
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    const node = nodes.get(at.id);
    if (node === undefined) continue;
    const { id: nodeId, label, type } = node;
    rows.push({ nodeId, label, type, prefix: at.own, fork: at.fork });
    const below = dominated.get(node.id) ?? [];
    const joins = below.filter((id) => (nodes.get(id)?.parents.length ?? 0) > 1);
    const branches = below.filter((id) => !joins.includes(id));
    const straight = (id: string): Pending => ({ ...at, id, own: at.below });
    const branch = (id: string, index: number): Pending => {
      if (at.level >= LEVELS_MAX) return straight(id);
      const isLast = index === branches.length - 1;
      return {
        id,
        own: at.below + (isLast ? "└─ " : "├─ "),
        below: at.below + (isLast ? "   " : "│  "),
        level: at.level + 1,
        fork: nodeId,
      };
    };
    const isChain = below.length === 1;
    stack.push(...joins.map(straight).toReversed());
    stack.push(...branches.map(isChain ? straight : branch).toReversed());
  }
  return rows;
}

function readNodes(definition: Json | undefined): Map<string, TreeNode> {
  const graph = readGraph(definition);
  const nodes = new Map(
    graph.nodes.map(({ id, label, type }): [string, TreeNode] => [
      id,
      { id, label: label === "" ? id : label, type, parents: [], children: [] },
    ]),
  );
  for (const edge of graph.edges) {
    if (edge.loop === true) continue;
    const source = nodes.get(edge.source);
    const target = nodes.get(edge.target);
    if (source === undefined || target === undefined || target.parents.includes(source.id))
      continue;
    source.children.push(target.id);
    target.parents.push(source.id);
  }
  return nodes;
}

function topologicalOrder(nodes: ReadonlyMap<string, TreeNode>): string[] {
  const waitingFor = new Map([...nodes.values()].map(({ id, parents }) => [id, parents.length]));
  const order = [...nodes.values()]
    .filter(({ parents }) => parents.length === 0)
    .map(({ id }) => id);
  for (let at = 0; at < order.length; at++) {
    for (const child of nodes.get(order[at] ?? "")?.children ?? []) {
      const left = (waitingFor.get(child) ?? 0) - 1;
      waitingFor.set(child, left);
      if (left === 0) order.push(child);
    }
  }
  return order;
}

/** For each node (and "" above the roots) the nodes it immediately dominates, in topological order. */
function dominatorChildren(
  nodes: ReadonlyMap<string, TreeNode>,
  order: readonly string[],
): ReadonlyMap<string, readonly string[]> {
  const above = new Map<string, string>();
  const depth = new Map([["", 0]]);
  const meet = (one: string, other: string): string => {
    let [a, b] = [one, other];
    while (a !== b) {
      if ((depth.get(a) ?? 0) >= (depth.get(b) ?? 0)) a = above.get(a) ?? "";
      else b = above.get(b) ?? "";
    }
    return a;
  };
  for (const id of order) {
    const [first, ...rest] = nodes.get(id)?.parents ?? [];
    const dominator = first === undefined ? "" : rest.reduce(meet, first);
    above.set(id, dominator);
    depth.set(id, (depth.get(dominator) ?? 0) + 1);
  }
  return Map.groupBy(order, (id) => above.get(id) ?? "");
}
