// What a run that has not begun asks for, one after the other: its time, its thread, its slots. Its job waits in the queue of pending runs until
// its time has come. The transaction that takes the job out asks for the next.
//
// Races. Another scheduler gives the run its thread because its time has come, before its own job is taken. The job is still there. It finds
// the run begun, or asks for its slots again. A user cancels or pauses the run meanwhile: both write its version, so one of them decides again.

import { waitLeftMs } from "@pawl/core/policy/start-time";
import { type Job, PENDING_RUNS } from "@pawl/platform/queue/queue";
import type { CachedRun } from "../commit/cache.ts";
import type { Draft } from "../commit/draft.ts";
import { startJob } from "../commit/slots.ts";

/** Asks for what the run waits for now. A run that needs nothing more gets a job that begins it. */
export function askToBegin(draft: Draft, run: CachedRun): void {
  const { thread, isThreadTaken } = run.state;
  if (isEarly(draft, run)) draft.jobs.push(startJob(run, draft.now));
  else if (thread !== undefined && !isThreadTaken) draft.askers.push(run);
  else draft.slots.askRun(run);
}

/** Whether the run waits for its time. */
export const isEarly = ({ now }: Pick<Draft, "now">, { state }: CachedRun): boolean =>
  waitLeftMs(state, now) > 0;

/**
 * Asks for what a run still needs whose job came out of the queue. False if it may begin. Only a run that waited for its time needs more: any
 * other run gets its job with its thread and its slots. `now` may be later than the time at which the tick began.
 */
export function asksForMore(claims: Draft, run: CachedRun, job: Job, now: number): boolean {
  const { startAt, thread, isThreadTaken, slot, rate } = run.state;
  if (startAt === undefined) return false;
  if (isEarly(claims, run)) {
    // The tick began before the time came. The next one comes at once.
    claims.jobs.push(startJob(run, now));
    return true;
  }
  const hasThread = thread === undefined || isThreadTaken;
  const hasSlots = (slot ?? rate) === undefined || job.isGranted === true;
  if (hasThread && hasSlots) return false;
  // The version proves that no other scheduler has begun the run.
  claims.touch(run);
  askToBegin(claims, run);
  return true;
}

/** Takes back what a run asked for that this tick accepted, because it begins paused. */
export function withdrawStart(draft: Draft, run: CachedRun): void {
  draft.slots.withdrawRun(run);
  const { runId } = run.state;
  const at = draft.jobs.findIndex((job) => job.runId === runId && job.nodeType === PENDING_RUNS);
  if (at >= 0) draft.jobs.splice(at, 1);
}
