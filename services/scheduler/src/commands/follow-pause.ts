// Has the runs of a workflow follow its pause or its resumption, a bounded number at a time, through the tick. If the scheduler dies in
// between, the row stays as it is and another scheduler begins again: it does not find runs that have followed, or the tick changes
// nothing about them.
//
// The races it survives. A run that starts meanwhile begins as its workflow is, because its start proves the pauses: so one walk over the
// runs that were there before finds all of them. A workflow that is paused or resumed again meanwhile has a new epoch: this walk stops
// at its next step, and the tick ignores what it still submits.

import type { RunId } from "@pawl/core/name/ids";
import { probe } from "@pawl/platform/lifecycle/probe";
import type { PauseRecord, Pauses } from "@pawl/platform/store/pauses/pauses";
import { askPause } from "./pause-run.ts";
import { isQuarantined } from "../inputs/quarantine.ts";
import type { TickLoop } from "../tick/loop.ts";
import { noteOfWorkflow } from "../commit/pauses.ts";

/** Ids read at once, and runs submitted at once: one tick takes them all, so what it writes stays bounded. */
const PAGE = 1_000;
const STEP = 100;

export interface FollowParts {
  readonly pauses: Pauses;
  readonly loop: TickLoop;
}

/** True once all runs have followed; false when the workflow was paused or resumed again meanwhile. @throws STORE_UNAVAILABLE, DRAINING, RUN_CONTENDED */
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
