// How a run ends: all its nodes are settled, a node fails the whole run, a user cancels the run, or its deadline passes. If the end comes
// early, the same commit cancels every unsettled execution. So an executor that still runs one is fenced, and a pending node never starts.

import { mayTimeOut } from "../log/clock.ts";
import { runOutputJson } from "../log/context.ts";
import { isFinal, isSettled, type Fact } from "../log/event.ts";
import type { RunState } from "../log/state.ts";
import { cancelFact, nodeIdAt, openIterations, placeAt, RUN_PLACE } from "./place.ts";

export type Stop =
  | { readonly kind: "finished" }
  | { readonly kind: "accepted"; readonly facts: Fact[] };

/** The facts of a cancellation. `finished` if the run has ended. */
export function onCancel(
  state: RunState,
  { reason, requestId }: { readonly reason: string; readonly requestId: string },
): Stop {
  const payload = { reason, requestId };
  return stop(state, reason, { ...RUN_PLACE, type: "run.cancelled", payload });
}

/** The facts of a passed deadline. `early` if it is in the future or cannot pass now, `finished` if the run has ended. */
export function onDeadline(state: RunState, now: number): Stop | { readonly kind: "early" } {
  if (isFinal(state.status)) return { kind: "finished" };
  if (now < state.deadlineAt || !mayTimeOut(state)) return { kind: "early" };
  return timedOut(state, state.deadlineAt);
}

/** The facts of a deadline that has passed. */
export function timedOut(state: RunState, deadlineAt: number): Stop {
  const terminal: Fact = { ...RUN_PLACE, type: "run.timed_out", payload: { deadlineAt } };
  return stop(state, "the run passed its deadline", terminal);
}

function stop(state: RunState, reason: string, terminal: Fact): Stop {
  if (isFinal(state.status)) return { kind: "finished" };
  return { kind: "accepted", facts: [...cancelUnsettled(state, reason), terminal] };
}

/** The facts that end a run because a node with `fail_workflow` failed. */
export const failWholeRun = (state: RunState, fatalNode: number): Fact[] => [
  ...cancelUnsettled(state, `node ${nodeIdAt(state, fatalNode)} failed the run`),
  runFailed(state, fatalNode),
];

/** The facts that end a run which repeated too often, by a jump of this node. */
export function failRepeating(state: RunState, index: number, why: string): Fact[] {
  const failedNodeId = nodeIdAt(state, index);
  const message = `node ${failedNodeId} repeats too often: ${why}`;
  const payload = { failedNodeId, message, cause: "max_iterations" } as const;
  return [
    ...cancelUnsettled(state, `node ${failedNodeId} failed the run`),
    { ...RUN_PLACE, type: "run.failed", payload },
  ];
}

/** Cancels every unsettled node, and before each node its open iterations. */
export const cancelUnsettled = (state: RunState, reason: string): Fact[] =>
  state.nodes.flatMap((node, index) =>
    isSettled(node.status) ? [] : cancelFacts(state, index, reason),
  );

/** Cancels the open iterations of a node, then the node. */
export const cancelFacts = (state: RunState, index: number, reason: string): Fact[] =>
  [...openIterations(state, index), undefined].map((iteration) =>
    cancelFact(placeAt(state, index, iteration), reason),
  );

/**
 * The terminal fact of a run whose nodes are all settled. Its leaves decide. `hasFailures` reports a failed node in the middle. It reads
 * every leaf, once for each run.
 */
export function verdict(state: RunState): Fact {
  const isWell = (index: number): boolean => {
    const status = state.nodes[index]?.status;
    return status === "completed" || status === "skipped";
  };
  if (state.graph.leaves.every(isWell)) {
    const payload = { hasFailures: state.hasFailures };
    return { ...RUN_PLACE, type: "run.completed", payload, value: runOutputJson(state) };
  }
  if (state.firstFailedNode !== undefined) return runFailed(state, state.firstFailedNode);
  const payload = { reason: "a node was cancelled", requestId: "" };
  return { ...RUN_PLACE, type: "run.cancelled", payload };
}

function runFailed(state: RunState, index: number): Fact {
  const failedNodeId = nodeIdAt(state, index);
  const why = state.nodes[index]?.message ?? "no message";
  const payload = { failedNodeId, message: `node ${failedNodeId} failed: ${why}` };
  return { ...RUN_PLACE, type: "run.failed", payload };
}
