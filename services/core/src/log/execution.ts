// One execution of a node. The iteration `base` is the node itself in its present round; the following ones run the body of a map or a
// loop, one for each item. Iterations before `base` are earlier rounds: the log has them, the state does not. The highest iterations undo
// others (`undo.ts`).

import type { Graph, GraphNode } from "../definition/graph.ts";
import type { NodeId } from "../name/ids.ts";
import type { BodyDefinition, NodeDefinition } from "../definition/shape.ts";
import type { ExecutionState, NodeState, RunState } from "./state.ts";
import { undoAt } from "./undo.ts";
import { isUndo, undoOf } from "./undo-iteration.ts";

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
  if (isUndo(iteration)) return undoAt(state, nodeIndex, iteration);
  return node.scope?.items[iteration - node.base - 1];
}

/** Whether an iteration is not the node itself: it runs the body of a map or a loop, or undoes another one. */
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

/** Every execution of a run: of each node its present round, then the compensations. */
export function* executionsOf(
  state: RunState,
): Generator<readonly [nodeIndex: number, iteration: number, execution: ExecutionState]> {
  for (const [index, node] of state.nodes.entries())
    for (const [iteration, execution] of roundOf(node)) yield [index, iteration, execution];
  for (const undo of state.undos.values()) yield [undo.nodeIndex, undoOf(undo.iteration), undo];
}

/** The definition that an execution runs. */
export function executionDefinition(
  state: RunState,
  nodeIndex: number,
  iteration: number,
): ExecutionDefinition {
  const definition = state.graph.nodes[nodeIndex]?.definition;
  if (definition === undefined) throw unknownNode(nodeIndex);
  const { compensation } = definition;
  if (compensation !== undefined && isUndo(iteration))
    return { ...compensation, errorHandling: "fail_node" };
  return bodyAt(definition, partOf(state, nodeIndex, iteration)) ?? definition;
}

/** The part of a node that an execution runs: the body of a map or a loop is also a turn of an agent. A number is a tool of the agent. */
export type NodePart = "node" | "body" | "undo" | number;

export function partOf(state: RunState, nodeIndex: number, iteration: number): NodePart {
  if (isUndo(iteration)) return "undo";
  if (!isItem(state, nodeIndex, iteration)) return "node";
  const { scope, base = 0 } = state.nodes[nodeIndex] ?? {};
  const tool = scope?.calls[iteration - base - 1]?.tool ?? -1;
  return tool < 0 ? "body" : tool;
}

/** The definition of a body or a tool; undefined for the other parts. */
export function bodyAt({ scope }: NodeDefinition, part: NodePart): BodyDefinition | undefined {
  if (part === "body") return scope?.body;
  return typeof part === "number" ? scope?.agent?.tools[part]?.body : undefined;
}

/** The definition by which a person is asked: of the body for a map or a loop, which asks for nothing itself. */
export const askingDefinition = ({ definition }: GraphNode): ExecutionDefinition =>
  definition.scope?.body ?? definition;

/**
 * The definition by which an execution of a node runs. Undefined if there is no such node. Without the log it takes a map or a loop that runs
 * again for one of its items.
 */
export function executedDefinition(
  graph: Graph,
  nodeId: NodeId,
  iteration: number,
): ExecutionDefinition | undefined {
  const node = graph.nodes[graph.indexOf.get(nodeId) ?? -1];
  if (node === undefined) return undefined;
  return iteration === 0 ? node.definition : askingDefinition(node);
}

/** The error for an index that is not in the graph: a bug in Pawl. Its message is made only on failure, so lookups stay fast. */
export const unknownNode = (index: number): Error =>
  new Error(`invariant broken: node ${index} is in the graph`);
