// The clock of a run: its deadline counts the time in which the run could get on by itself. The clock stands while the run is
// paused, and while people alone could move it; when it goes on, `run.status.changed` says the deadline moved by that
// time, so that the log alone tells the deadline and nobody has to trust another's clock.
//
// A run that waits is not looked at by its deadline. Where it waits for child runs, theirs are never later than its own was, they
// stand and move by the same rule, and the child that passes its deadline takes along a parent whose own is passed by then.

import { isFinal, type FactOf } from "./event.ts";
import type { RunState } from "./state.ts";

/** What is known of a run's clock. */
export type Clock = Pick<
  RunState,
  "status" | "deadlineAt" | "firstDeadlineAt" | "waitingSince" | "clockStoppedAt"
>;

const isWaiting = ({ status }: Clock): boolean => status === "waiting" || status === "paused";

/** Whether the deadline is looked at: not while the run waits, or is paused. */
export const mayTimeOut = (clock: Clock): boolean => !isWaiting(clock);

/** How long the clock has stood since it was last said. */
const stoodMs = ({ clockStoppedAt }: Clock, now: number): number =>
  clockStoppedAt === undefined ? 0 : Math.max(0, now - clockStoppedAt);

/** What a run that goes on says of its deadline: nothing, where it did not move. */
export function movedDeadline(clock: Clock, now: number): { readonly deadlineAt?: number } {
  const ms = stoodMs(clock, now);
  return ms === 0 ? {} : { deadlineAt: clock.deadlineAt + ms };
}

/** The deadline of a run whose child has ended: what the child waited for people, its parent did too, if it did nothing else. */
export function deadlineAfterChild(parent: Clock, child: Clock, now: number): number {
  if (parent.status !== "waiting" || parent.waitingSince === undefined) return parent.deadlineAt;
  const childStoodMs = child.deadlineAt + stoodMs(child, now) - child.firstDeadlineAt;
  return parent.deadlineAt + Math.max(0, Math.min(childStoodMs, now - parent.waitingSince));
}

/** Folds a change of status. */
export function changeStatus(
  state: RunState,
  { payload, at }: FactOf<"run.status.changed"> & { readonly at: number },
): void {
  const wasWaiting = isWaiting(state);
  const { to, scope = "run", who = "", reason = "" } = payload;
  state.status = to;
  state.pause = to === "paused" ? { scope, who, reason } : undefined;
  if (!isWaiting(state)) state.waitingSince = undefined;
  else if (!wasWaiting) state.waitingSince = at;
  if (payload.deadlineAt === undefined) return;
  state.deadlineAt = payload.deadlineAt;
  state.clockStoppedAt = undefined;
}

/** After every event: stops the clock or lets it run. A run that is over keeps what was known at its end. */
export function keepClock(state: RunState, at: number): void {
  if (isFinal(state.status)) return;
  const stands = isWaiting(state) && (state.status === "paused" || state.childCount === 0);
  if (!stands) state.clockStoppedAt = undefined;
  else state.clockStoppedAt ??= at;
}
