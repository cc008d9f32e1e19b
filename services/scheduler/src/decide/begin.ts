// Lets runs begin that waited for a slot of their workflow. Their job says that they have it; whichever scheduler takes the job
// writes the first step, so a scheduler killed after it gave the slot leaves nobody waiting.

import { RUN_PLACE } from "@pawl/core/plan/place";
import type { RunId } from "@pawl/core/name/ids";
import { PENDING_RUNS } from "@pawl/platform/queue/queue";
import type { Transaction } from "@pawl/platform/store/tick/journal";
import { ASIDE_MS, type Claiming, grantOf } from "./claim.ts";
import { pendingJob } from "../commit/slots.ts";
import { place } from "./place.ts";
import type { DecideParts } from "./parts.ts";

/** Runs begun in one tick, so that its work stays bounded. */
const BEGIN_MAX = 128;

export async function beginPending(
  parts: DecideParts,
  tx: Transaction,
  { draft, claims, claimMax }: Claiming,
): Promise<void> {
  const { cache, waiting } = parts;
  const count = Math.min(BEGIN_MAX, claimMax);
  const jobs = await tx.fetch(PENDING_RUNS, count);
  if (jobs.length < count) waiting.emptied(PENDING_RUNS);
  await cache.ensure(jobs.map(({ runId }) => runId).filter((runId) => !draft.has(runId)));
  // A run may have been resumed elsewhere since: one that looks paused is looked at again before its job is dropped.
  const isPaused = (runId: RunId): boolean => cache.get(runId)?.state.status === "paused";
  const others = jobs.map(({ runId }) => runId).filter((runId) => !draft.has(runId));
  await cache.refresh(others.filter(isPaused));
  for (const job of jobs) {
    const { runId } = job;
    const run = draft.run(runId) ?? cache.get(runId);
    // A run never goes back to pending: one that is seen as begun or over is so, however old the fold. One that is paused left
    // the line; whoever resumes it asks again.
    if (run?.state.status !== "pending" || run.state.isAdmitted) continue;
    if (parts.aside.has(runId)) {
      claims.jobs.push({ ...pendingJob(run), ...grantOf(job), delayMs: ASIDE_MS });
      continue;
    }
    const payload = { from: "pending", to: "running" } as const;
    claims.append(run, { ...RUN_PLACE, type: "run.status.changed", payload });
    claims.planRun(run);
  }
  place(claims, parts);
}
