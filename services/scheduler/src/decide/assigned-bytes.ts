// How large the assignment of an execution is. A tick asks before it claims; the session asks again before it sends.

import type { Graph } from "@pawl/core/definition/graph";
import { contextBytes, nodeJson, nodeJsonIndex } from "@pawl/core/log/context";
import type { Execution } from "../commit/run-draft.ts";

/** Static bytes per definition: encoded once, sent with every assignment of the node. */
const nodeBytes = new WeakMap<Graph, Uint8Array[]>();

/** The definition of a node as its assignments carry it. */
export function nodeJsonBytes(graph: Graph, nodeIndex: number, iteration: number): Uint8Array {
  let bytes = nodeBytes.get(graph);
  if (bytes === undefined) nodeBytes.set(graph, (bytes = []));
  const at = nodeJsonIndex(nodeIndex, iteration);
  return (bytes[at] ??= Buffer.from(nodeJson(graph, nodeIndex, iteration)));
}

/** About how many bytes its assignment takes; never fewer than its JSON. */
export const assignedBytes = ({ run: { state }, nodeIndex, iteration }: Execution): number =>
  contextBytes(state, nodeIndex, iteration) +
  nodeJsonBytes(state.graph, nodeIndex, iteration).length;
