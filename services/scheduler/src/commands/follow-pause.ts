// Pauses or resumes the runs of a workflow after the workflow itself. The scheduler submits a bounded number of runs to the tick at a time.
// If the scheduler dies meanwhile, the row of the pause stays. Another scheduler then starts again. It does not find the runs that have
// followed, or the tick changes nothing about them.
//
// Races. A run starts meanwhile: its start proves the pauses, so it begins as its workflow is. One walk over the older runs therefore finds
// all others. A user pauses or resumes the workflow again meanwhile: the epoch is new, this walk stops at its next step, and the tick
// ignores its inputs.

import type { RunId } from "@pawl/core/name/ids";
import { probe } from "@pawl/platform/lifecycle/probe";
import type { PauseRecord, Pauses } from "@pawl/platform/store/pauses/pauses";
import { askPause } from "./pause-run.ts";
import { isQuarantined } from "../inputs/quarantine.ts";
import type { TickLoop } from "../tick/loop.ts";
import { noteOfWorkflow } from "../commit/pauses.ts";

/** Ids in one read, and runs submitted at once. One tick takes all of them, so the writes of a tick stay bounded. */
const PAGE = 1_000;
const STEP = 100;

export interface FollowParts {
  readonly pauses: Pauses;
  readonly loop: TickLoop;
}

/**
 * True once all runs have followed. False if a user paused or resumed the workflow again meanwhile. @throws STORE_UNAVAILABLE, DRAINING,
 * RUN_CONTENDED
 */
export async function followPause(parts: FollowParts, pause: PauseRecord): Promise<boolean> {
  const { pauses } = parts;
  let after: RunId | undefined;
  let isFirst = true;
  for (;;) {
    const runIds = await pauses.runsOf(pause, { after, limit: PAGE });
    for (let at = 0; at < runIds.length; at += STEP) {
      if (!isFirst && !(await pauses.tend(pause))) return false;
      isFirst = false;
      await Promise.all(runIds.slice(at, at + STEP).map((runId) => followOne(parts, pause, runId)));
      probe("pause.after-step");
    }
    if (runIds.length < PAGE) break;
    after = runIds.at(-1);
  }
  await pauses.settle(pause);
  return true;
}

/** A run that has ended, or is in quarantine, stays as it is. */
async function followOne(parts: FollowParts, pause: PauseRecord, runId: RunId): Promise<void> {
  const kind = pause.state === "resuming" ? "resume" : "pause";
  try {
    await askPause(parts, kind, runId, noteOfWorkflow(pause));
  } catch (error) {
    if (!isQuarantined(error)) throw error;
  }
}
