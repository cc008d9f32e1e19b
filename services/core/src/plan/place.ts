// The place of a fact: the ids and numbers that every event carries beside its payload.

import type { GraphNode } from "../definition/graph.ts";
import { isSettled, type EventPlace, type Fact } from "../log/event.ts";
import { executionAt, isItem, unknownNode } from "../log/execution.ts";
import type { ExecutionState, NodeState, RunState } from "../log/state.ts";
import type { NodeId } from "../name/ids.ts";
import type { SomeAmounts } from "../policy/budget.ts";
import type { Limits } from "../policy/limit.ts";

/** The place of facts about the run itself. */
export const RUN_PLACE: EventPlace = { nodeId: "", iteration: 0, attempt: 0, epoch: 0 };

/** The node's part of the graph. */
export function graphNodeAt(state: RunState, index: number): GraphNode {
  const node = state.graph.nodes[index];
  if (node === undefined) throw unknownNode(index);
  return node;
}

/** The node's part of the state. */
export function nodeStateAt(state: RunState, index: number): NodeState {
  const node = state.nodes[index];
  if (node === undefined) throw unknownNode(index);
  return node;
}

export const nodeIdAt = (state: RunState, index: number): NodeId =>
  graphNodeAt(state, index).definition.id;

/** The iterations of a node that are queued or running, or that wait. */
export function openIterations(state: RunState, index: number): number[] {
  const { scope, base } = nodeStateAt(state, index);
  if (scope === undefined || scope.openCount === 0) return [];
  const isOpen = ({ status }: ExecutionState): boolean =>
    status !== "pending" && !isSettled(status);
  return scope.items.flatMap((item, at) => (isOpen(item) ? [base + at + 1] : []));
}

/** The place of a fact about an execution, or about a node itself. Its epoch is 0 unless an executor caused the fact. */
export const placeAt = (
  state: RunState,
  index: number,
  iteration = nodeStateAt(state, index).base,
  epoch = 0,
): EventPlace => ({
  nodeId: nodeIdAt(state, index),
  iteration,
  attempt: executionAt(state, index, iteration)?.attempt ?? 0,
  epoch,
});

/** Whether an edge leaves the node by this handle. Iterations of a map or a loop have no handles. */
export function leadsBy(
  state: RunState,
  index: number,
  iteration: number,
  handle: string,
): boolean {
  const { outgoing, loops } = graphNodeAt(state, index);
  const isLed = [...outgoing, ...loops].some((edge) => edge.handle === handle);
  return isLed && !isItem(state, index, iteration);
}

/** How long ago the last claim on an execution began. */
export const durationOf = ({ startedAt }: Partial<ExecutionState>, now: number): number =>
  Math.max(0, now - (startedAt ?? now));

export interface Queueing {
  readonly releaseAt: number;
  readonly now: number;
  readonly limits: Limits | undefined;
  /** What the execution reserves of its budgets. */
  readonly reserved?: SomeAmounts | undefined;
}

/** Queues the first attempt of an execution, which starts at `releaseAt` or later. */
export const queueFact = (
  place: EventPlace,
  { releaseAt, now, limits, reserved }: Queueing,
): Fact => ({
  ...place,
  attempt: 1,
  type: "node.queued",
  payload: {
    ...(releaseAt > now ? { notBefore: releaseAt } : {}),
    ...(reserved === undefined ? {} : { reserved }),
    ...limits,
  },
});

export const cancelFact = (place: EventPlace, reason: string): Fact => ({
  ...place,
  type: "node.cancelled",
  payload: { reason },
});
