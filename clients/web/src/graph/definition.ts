// The graph of a definition: labels, the search for nodes, and in a run the state of an edge and the input of a node. The functions are
// pure.

import type { DrawnEdge, DrawnGraph } from "@pawl/client";
import { isSettled } from "@pawl/core/log/event";
import { edgeEffect } from "@pawl/core/log/edge-effect";
import type { NodeView, RunView } from "@pawl/core/log/view";
import { parseJson } from "../ui/json-text.ts";

/** The label of a node. Empty when it has none. */
export const labelOf = ({ nodes }: DrawnGraph, nodeId: string): string =>
  nodes.find(({ id }) => id === nodeId)?.label ?? "";

/** The ids of nodes whose id or label contains the text. Those that begin with it come first. None for an empty text. */
export function findNodes({ nodes }: DrawnGraph, text: string): readonly string[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return [];
  const place = ({ id, label }: { readonly id: string; readonly label: string }): number => {
    const places = [id, label].map((name) => name.toLowerCase().indexOf(wanted));
    return Math.min(...places.map((at) => (at < 0 ? Infinity : at)));
  };
  return nodes
    .map((node) => ({ id: node.id, at: place(node) }))
    .filter(({ at }) => at < Infinity)
    .toSorted((one, other) => Math.min(one.at, 1) - Math.min(other.at, 1))
    .map(({ id }) => id);
}

export type EdgeState = "pending" | "taken" | "untaken";

/** The state of `edge`, given the newest execution of its source. A loop edge ends the round that took it, so its target tells. */
export function edgeState(
  edge: DrawnEdge,
  source: NodeView | undefined,
  target?: NodeView,
): EdgeState {
  if (edge.loop === true && (target?.round ?? 0) > 0) return "taken";
  if (source === undefined || !isSettled(source.status)) return "pending";
  const handle = source.handle === "" ? undefined : source.handle;
  const effect = edgeEffect(
    { status: source.status, handle },
    { handle: edge.handle === "" ? null : edge.handle },
  );
  return effect === "taken" ? "taken" : "untaken";
}

/** The input of a node as JSON text on several lines. "" while the node has none. */
export function nodeInput(graph: DrawnGraph, view: RunView, nodeId: string): string {
  const incoming = graph.edges.filter((edge) => edge.target === nodeId && edge.loop !== true);
  if (incoming.length === 0) return view.input === "" ? "" : show(parseJson(view.input));
  const reached = incoming.flatMap((edge) => {
    const source = view.nodes.get(edge.source);
    if (source === undefined || edgeState(edge, source) !== "taken") return [];
    return [[edge.source, parseJson(source.output ?? "null")] as const];
  });
  return reached.length === 0 ? "" : show(Object.fromEntries(reached));
}

const show = (value: unknown): string => JSON.stringify(value, null, 2);
