// One execution of a node. The iteration `base` is the node itself in its present round; the following ones run the body of a map or a
// loop, one for each item. Iterations before `base` are earlier rounds: the log has them, the state does not.

import type { GraphNode } from "../definition/graph.ts";
import type { NodeDefinition } from "../definition/shape.ts";
import type { ExecutionState, NodeState, RunState } from "./state.ts";

/** The definition of an execution: the node's, or that of the body of its scope. */
export type ExecutionDefinition = Pick<
  NodeDefinition,
  "type" | "config" | "retry" | "timeoutMs" | "errorHandling"
>;

/** The state of an execution. Undefined for an unknown node, an earlier round, and an iteration that was never queued. */
export function executionAt(
  state: RunState,
  nodeIndex: number,
  iteration: number,
): ExecutionState | undefined {
  const node = state.nodes[nodeIndex];
  if (node === undefined || iteration === node.base) return node;
  return node.scope?.items[iteration - node.base - 1];
}

/** Whether an iteration runs the body of a map or a loop, and is not the node itself. */
export const isItem = (state: RunState, nodeIndex: number, iteration: number): boolean =>
  iteration !== (state.nodes[nodeIndex]?.base ?? 0);

/** The iteration that a caller means: 0 names the node itself in its present round. */
export const presentIteration = (state: RunState, nodeIndex: number, asked: number): number =>
  asked === 0 ? (state.nodes[nodeIndex]?.base ?? 0) : asked;

/** Every execution of a node's present round: the node, then its items. */
export function roundOf(node: NodeState): (readonly [number, ExecutionState])[] {
  const items = (node.scope?.items ?? []).map((item, at) => [node.base + at + 1, item] as const);
  return [[node.base, node], ...items];
}

/** The definition that an execution runs. */
export function executionDefinition(
  state: RunState,
  nodeIndex: number,
  iteration: number,
): ExecutionDefinition {
  const definition = state.graph.nodes[nodeIndex]?.definition;
  if (definition === undefined) throw unknownNode(nodeIndex);
  if (definition.scope === null || !isItem(state, nodeIndex, iteration)) return definition;
  return definition.scope.body;
}

/** The definition by which a person is asked: of the body for a map or a loop, which asks for nothing itself. */
export const askingDefinition = ({ definition }: GraphNode): ExecutionDefinition =>
  definition.scope?.body ?? definition;

/** The error for an index that is not in the graph: a bug in Pawl. Its message is made only on failure, so lookups stay fast. */
export const unknownNode = (index: number): Error =>
  new Error(`invariant broken: node ${index} is in the graph`);
