// The clock of a run. A deadline counts only time in which the run can advance by itself. The clock stops while the run is paused, and
// while only people can advance it. When the run resumes, `run.status.changed` carries the deadline moved by that time. So the log alone
// gives the deadline, and no service depends on the clock of another.
//
// The scheduler does not time out a waiting run. If the run waits for child runs, their deadlines are never later than its own and follow
// the same rule. A child that passes its deadline also times out its parent, if the parent's deadline has passed by then.

import { isFinal, type FactOf } from "./event.ts";
import type { RunState } from "./state.ts";

/** The part of a run's state that its clock uses. */
export type Clock = Pick<
  RunState,
  "status" | "deadlineAt" | "firstDeadlineAt" | "waitingSince" | "clockStoppedAt" | "startAt"
>;

const isWaiting = ({ status }: Clock): boolean => status === "waiting" || status === "paused";

/** Whether the deadline may end the run now. It may not while the run waits or is paused. */
export const mayTimeOut = (clock: Clock): boolean => !isWaiting(clock);

/** How long the clock has been stopped since the deadline last moved. */
const stoppedMs = ({ clockStoppedAt }: Clock, now: number): number =>
  clockStoppedAt === undefined ? 0 : Math.max(0, now - clockStoppedAt);

/** The moved deadline of a run that resumes. Empty if it did not move. */
export function movedDeadline(clock: Clock, now: number): { readonly deadlineAt?: number } {
  const ms = stoppedMs(clock, now);
  return ms === 0 ? {} : { deadlineAt: clock.deadlineAt + ms };
}

/**
 * The new deadline of a parent run whose child run has ended. While the child waited for people, its deadline moved. If the parent only
 * waited for the child, its deadline moves by the same time, and at most by the time that it waited.
 */
export function deadlineAfterChild(parent: Clock, child: Clock, now: number): number {
  if (parent.status !== "waiting" || parent.waitingSince === undefined) return parent.deadlineAt;
  const childMs = child.deadlineAt + stoppedMs(child, now) - child.firstDeadlineAt;
  return parent.deadlineAt + Math.max(0, Math.min(childMs, now - parent.waitingSince));
}

/** Folds a change of status. */
export function changeStatus(
  state: RunState,
  { payload, at }: FactOf<"run.status.changed"> & { readonly at: number },
): void {
  const wasWaiting = isWaiting(state);
  const { to, scope = "run", who = "", reason = "", waitingFor } = payload;
  state.status = to;
  state.pause =
    to === "paused" ? { scope, who, reason, ...(waitingFor && { waitingFor }) } : undefined;
  if (!isWaiting(state)) state.waitingSince = undefined;
  else if (!wasWaiting) state.waitingSince = at;
  if (payload.deadlineAt === undefined) return;
  // A compensation has a deadline of its own: the run was not stopped for the time between the two.
  if (payload.ending !== undefined) state.firstDeadlineAt += payload.deadlineAt - state.deadlineAt;
  state.deadlineAt = payload.deadlineAt;
  state.clockStoppedAt = undefined;
}

/** Stops or starts the clock after every event. After the end of a run its clock does not change. */
export function keepClock(state: RunState, at: number): void {
  if (isFinal(state.status)) return;
  const isStopped = isWaiting(state) && (state.status === "paused" || state.childCount === 0);
  if (!isStopped) state.clockStoppedAt = undefined;
  // Before its start the clock of a run does not go, so a pause then stops nothing.
  else state.clockStoppedAt ??= Math.max(at, state.startAt ?? 0);
}
