// How a run ends: all its nodes are settled, a node fails the whole run, a user cancels the run, or its deadline passes. If the end comes
// early, the same commit cancels every unsettled execution. So an executor that still runs one is fenced, and a pending node never starts.
// A run that has something to undo is compensated before it ends (`undo.ts`).

import { classField } from "../fault/cause.ts";
import { mayTimeOut } from "../log/clock.ts";
import { runOutputJson } from "../log/context.ts";
import { isFinal, type Ending, type Fact, type StopMode } from "../log/event.ts";
import type { RunState } from "../log/state.ts";
import { runOutputTaint } from "../log/taint.ts";
import { taintField } from "./label.ts";
import { nodeIdAt, nodeStateAt, RUN_PLACE } from "./place.ts";
import { endRun, stopUndoing } from "./undo.ts";

export type Stop =
  | { readonly kind: "finished" }
  | { readonly kind: "accepted"; readonly facts: Fact[] };

interface Cancel {
  readonly reason: string;
  readonly requestId: string;
  /** Whether to undo completed nodes first. The definition decides if absent. */
  readonly compensate?: boolean | undefined;
  /** False lets a compensation that is under way continue: a parent run wants its child to end, and to undo its nodes before. */
  readonly stopsUndoing?: boolean;
  /** Set for an interrupt and a rollback. */
  readonly stop?: StopMode | undefined;
  readonly now: number;
}

/** The facts of a cancellation. `finished` if the run has ended. */
export function onCancel(state: RunState, cancel: Cancel): Stop {
  const { reason, requestId, stop, stopsUndoing = true, now } = cancel;
  // A rollback undoes what can be undone, and an interrupt keeps everything.
  const compensate = cancel.compensate ?? (stop === undefined ? undefined : stop === "rollback");
  if (isFinal(state.status)) return { kind: "finished" };
  if (state.ending !== undefined) {
    const isRepeat =
      requestId !== "" && state.ending.end === "cancelled" && state.ending.requestId === requestId;
    return { kind: "accepted", facts: isRepeat || !stopsUndoing ? [] : stopUndoing(state, reason) };
  }
  const how = stop === undefined ? {} : { stop };
  const ending = { end: "cancelled", reason, requestId, ...how } as const;
  return { kind: "accepted", facts: endRun(state, { ending, reason, now, compensate }) };
}

/** The facts of a passed deadline. `early` if it is in the future or cannot pass now, `finished` if the run has ended. */
export function onDeadline(state: RunState, now: number): Stop | { readonly kind: "early" } {
  if (isFinal(state.status)) return { kind: "finished" };
  if (now < state.deadlineAt || !mayTimeOut(state)) return { kind: "early" };
  if (state.ending !== undefined)
    return { kind: "accepted", facts: stopUndoing(state, "the compensation passed its deadline") };
  return timedOut(state, state.deadlineAt, now);
}

/** The facts of a deadline that has passed. */
export function timedOut(state: RunState, deadlineAt: number, now: number): Stop {
  if (isFinal(state.status)) return { kind: "finished" };
  const ending = { end: "timeout", deadlineAt } as const;
  const reason = "the run passed its deadline";
  return { kind: "accepted", facts: endRun(state, { ending, reason, now }) };
}

/** The facts that end a run because a node with `fail_workflow` failed. */
export const failWholeRun = (state: RunState, fatalNode: number, now: number): Fact[] =>
  endRun(state, {
    ending: failing(state, fatalNode),
    reason: `node ${nodeIdAt(state, fatalNode)} failed the run`,
    now,
  });

/** The facts that end a run which repeated too often, by a jump of this node. */
export function failRepeating(state: RunState, index: number, why: string, now: number): Fact[] {
  const failedNodeId = nodeIdAt(state, index);
  const message = `node ${failedNodeId} repeats too often: ${why}`;
  const ending = { end: "failed", failedNodeId, message, cause: "max_iterations" } as const;
  return endRun(state, { ending, reason: `node ${failedNodeId} failed the run`, now });
}

/**
 * The end of a run whose nodes are all settled. Its leaves decide. `hasFailures` reports a failed node in the middle. It reads every
 * leaf, once for each run.
 */
export function verdict(state: RunState, now: number): Fact[] {
  const isWell = (index: number): boolean => {
    const status = state.nodes[index]?.status;
    return status === "completed" || status === "skipped";
  };
  if (state.graph.leaves.every(isWell)) {
    const payload = { hasFailures: state.hasFailures, ...taintField(runOutputTaint(state)) };
    return [{ ...RUN_PLACE, type: "run.completed", payload, value: runOutputJson(state) }];
  }
  const reason = "a node was cancelled";
  const ending: Ending =
    state.firstFailedNode === undefined
      ? { end: "cancelled", reason, requestId: "" }
      : failing(state, state.firstFailedNode);
  return endRun(state, { ending, reason, now });
}

function failing(state: RunState, index: number): Ending {
  const failedNodeId = nodeIdAt(state, index);
  const { message: why = "no message", failure } = nodeStateAt(state, index);
  const classed = failure && {
    cause: failure.cause,
    ...classField(failure.cause, failure.failureClass === "permanent"),
  };
  return {
    end: "failed",
    failedNodeId,
    message: `node ${failedNodeId} failed: ${why}`,
    ...classed,
  };
}
