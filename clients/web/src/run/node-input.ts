// The input of a node execution: the outputs of its parents along the edges that the run took, or the run's input at the start.

import type { DrawnGraph } from "../graph/definition.ts";
import { edgeState } from "../graph/edge-state.ts";
import { parseJson } from "../ui/json-text.ts";
import type { RunView } from "@pawl/core/log/view";

/** The input of a node as JSON text on several lines; "" while the node has none. */
export function nodeInput(graph: DrawnGraph, view: RunView, nodeId: string): string {
  const incoming = graph.edges.filter((edge) => edge.target === nodeId);
  if (incoming.length === 0) return view.input === "" ? "" : show(parseJson(view.input));
  const reached = incoming.flatMap((edge) => {
    const source = view.nodes.get(edge.source);
    if (source === undefined || edgeState(edge, source) !== "taken") return [];
    return [[edge.source, parseJson(source.output ?? "null")] as const];
  });
  return reached.length === 0 ? "" : show(Object.fromEntries(reached));
}

const show = (value: unknown): string => JSON.stringify(value, null, 2);
