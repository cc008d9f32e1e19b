// Definitions in few words: nodes by id, edges as paths. "a > b > c" is two edges, "check:yes > a" leaves by a handle.
import type { Json } from "@pawl/client";

type JsonObject = { readonly [key: string]: Json };

/** A definition as the API takes it. */
export type GraphText = { readonly nodes: JsonObject[]; readonly edges: JsonObject[] };

/** The keys of a node besides its id. */
export type NodeText = { readonly type?: string; readonly [key: string]: Json | undefined };

/** A graph; an executor runs a script for each node that only a path names, but for `start` and `end`. */
export function graph(
  paths: readonly string[],
  nodes: Readonly<Record<string, NodeText>> = {},
): GraphText {
  // A start node comes first, as authors write it.
  const hasStart = paths.some((path) => /^start\b/.test(path));
  const ids = new Set<string>([...(hasStart ? ["start"] : []), ...Object.keys(nodes)]);
  const edges: JsonObject[] = [];
  for (const path of paths) {
    const steps = path.split(">").map((step) => step.trim());
    steps.slice(1).forEach((step, index) => {
      const [source = "", handle] = (steps[index] ?? "").split(":");
      const [target = ""] = step.split(":");
      ids.add(source).add(target);
      edges.push({ source, target, ...(handle === undefined ? {} : { source_handle: handle }) });
    });
  }
  const ownOf = (id: string): NodeText => (id === "start" || id === "end" ? { type: id } : STEP);
  return {
    nodes: [...ids].map((id): JsonObject => ({
      id,
      ...plain(nodes[id]?.type === undefined ? ownOf(id) : {}),
      ...plain(nodes[id] ?? {}),
    })),
    edges: unique(edges),
  };
}

/** `count` names beside each other: m1, m2, … */
export const names = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${index + 1}`);

/** A node that runs a script. */
export const script = (code: string, more: NodeText = {}): NodeText => ({
  type: "javascript",
  config: { code },
  ...more,
});

/** A node that an executor runs, and that does nothing. */
const STEP = script("return {}");

/** A node that fails for good. */
export const broken = (more: NodeText = {}): NodeText =>
  script('throw new Error("broken on purpose")', more);

/** A node that calls an address. */
export const call = (url: string, more: NodeText = {}): NodeText => ({
  type: "http",
  config: { url, method: "POST" },
  ...more,
});

const plain = (node: NodeText): JsonObject =>
  Object.fromEntries(
    Object.entries(node).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );

/** Two paths may share an edge. */
function unique(edges: readonly JsonObject[]): JsonObject[] {
  return [...new Map(edges.map((edge) => [JSON.stringify(edge), edge])).values()];
}
