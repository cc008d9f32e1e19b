// Why a run makes no progress by itself, since when, and when the first of its waits ends.
//
// A node that waits for its own slot or rate, a paused queue, and a missing executor are no reasons here: the log does not show them.
// `pawl run explain` reads them from the store.

import { waitLeftMs } from "../policy/start-time.ts";
import {
  APPROVAL,
  isFinal,
  isSettled,
  MODERATION_HOLD,
  type RunStatus,
  TAINT_HOLD,
} from "./event.ts";
import { isBackingOff } from "./run-status.ts";
import type { ExecutionState, NodeState, RunState } from "./state.ts";
import { WAITING_REASONS, type WaitingReason, type WorkflowState } from "./workflow-state-shape.ts";

type Wait = Pick<WorkflowState, "waitingFor" | "waitingSince" | "waitingTimeoutAt">;
/** One reason to wait, and when that wait ends by itself. */
type Reason = readonly [WaitingReason, number | undefined];

const NO_WAIT: Wait = {
  waitingFor: undefined,
  waitingSince: undefined,
  waitingTimeoutAt: undefined,
};

/** Why the run makes no progress. It looks at executions only if none can run now. */
export function waitOf(state: RunState, status: RunStatus, now: number): Wait {
  if (isFinal(status)) return NO_WAIT;
  const pause = state.pause?.waitingFor ?? "paused";
  const reasons: readonly Reason[] = status === "paused" ? [[pause, undefined]] : held(state, now);
  const waitingFor = WAITING_REASONS.find((each) => reasons.some(([reason]) => reason === each));
  if (waitingFor === undefined) return NO_WAIT;
  const ends = reasons.flatMap(([, end]) => (end === undefined ? [] : [end]));
  const waitingTimeoutAt = ends.length === 0 ? undefined : Math.min(...ends);
  return { waitingFor, waitingSince: sinceOf(state, now), waitingTimeoutAt };
}

/** Since when the run waits. A run that has not begun waits for its time first, and then for its thread or its slots. */
function sinceOf(state: RunState, now: number): number {
  const { waitingSince, movedAt, startedAt, startAt = startedAt } = state;
  if (waitingSince !== undefined) return waitingSince;
  if (state.status !== "pending") return movedAt;
  return waitLeftMs(state, now) > 0 ? startedAt : Math.max(startedAt, startAt);
}

function held(state: RunState, now: number): readonly Reason[] {
  if (state.status === "pending") {
    if (waitLeftMs(state, now) > 0) return [["delay", state.startAt]];
    if (state.thread !== undefined && !state.isThreadTaken) return [["thread", state.deadlineAt]];
    const isOfDay = state.daily !== undefined && (state.slot ?? state.rate) === undefined;
    return [[isOfDay ? "budget" : "slot", state.deadlineAt]];
  }
  const reasons: Reason[] = [];
  for (const execution of openExecutions(state)) {
    const found = reasonOf(execution);
    if (found === undefined) return [];
    reasons.push(found);
  }
  return reasons;
}

const isOpen = ({ status }: ExecutionState): boolean => status !== "pending" && !isSettled(status);

/** Lazily: one that can run ends the search, and a map may have ten thousand settled items. */
function* openExecutions({ nodes, undos }: RunState): Generator<ExecutionState> {
  for (const node of nodes) if (isOpen(node)) yield* partsOf(node);
  for (const undo of undos.values()) if (isOpen(undo)) yield undo;
}

/** A map or a loop waits for its items, or for the time of the next one. */
function* partsOf(node: NodeState): Generator<ExecutionState> {
  const { scope } = node;
  if (scope === undefined) return yield node;
  const open = scope.items.values().filter(({ status }) => !isSettled(status));
  const first = open.next();
  if (first.done === true) return yield { ...node, notBefore: scope.releaseAt };
  yield first.value;
  yield* open;
}

/** Why an execution does not advance; undefined if it runs or could run. */
function reasonOf(execution: ExecutionState): Reason | undefined {
  const { status, attempt, notBefore, hold, wait, childRunId } = execution;
  if (hold?.reason === APPROVAL || hold?.reason === TAINT_HOLD)
    return ["human_approval", hold.deadlineAt];
  if (hold?.reason === MODERATION_HOLD) return ["moderation", hold.deadlineAt];
  if (wait !== undefined) return ["signal", wait.deadlineAt];
  if (childRunId !== undefined) return ["child_run", undefined];
  if (isBackingOff(status, attempt, notBefore)) return ["retry", notBefore];
  return notBefore === undefined ? undefined : ["delay", notBefore];
}
