// One execution of a node: iteration 0 is the node itself, the others run the body of a map or a loop, one for each item.

import type { Graph } from "../definition/graph.ts";
import type { NodeDefinition } from "../definition/shape.ts";
import type { ExecutionState, RunState } from "./state.ts";

/** The definition of an execution: the node's, or that of the body of its scope. */
export type ExecutionDefinition = Pick<
  NodeDefinition,
  "type" | "config" | "retry" | "timeoutMs" | "errorHandling"
>;

/** The state of an execution. Undefined for an unknown node and for an iteration that was never queued. */
export function executionAt(
  state: RunState,
  nodeIndex: number,
  iteration: number,
): ExecutionState | undefined {
  const node = state.nodes[nodeIndex];
  return iteration === 0 ? node : node?.scope?.items[iteration - 1];
}

/** The definition that an execution runs. */
export function executionDefinition(
  graph: Graph,
  nodeIndex: number,
  iteration: number,
): ExecutionDefinition {
  const definition = graph.nodes[nodeIndex]?.definition;
  const found = iteration === 0 ? definition : definition?.scope?.body;
  if (found === undefined || found === null) throw unknownNode(nodeIndex);
  return found;
}

/** The error for an index that is not in the graph: a bug in Pawl. Its message is made only on failure, so lookups stay fast. */
export const unknownNode = (index: number): Error =>
  new Error(`invariant broken: node ${index} is in the graph`);
