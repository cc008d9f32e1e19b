// Completes glue nodes that waited in a queue: their time has come, or the tick that made them ready had spent its budget. The job
// comes out of the queue in the transaction that completes the node, so a scheduler that is killed in between loses nothing.

import { inlineFact } from "@pawl/core/plan/inline";
import { GLUE } from "@pawl/platform/queue/queue";
import type { Transaction } from "@pawl/platform/store/tick/journal";
import { ASIDE_MS, type Claiming, fetchClaimable, isClaimable } from "./claim.ts";
import { jobOf, place } from "./place.ts";
import type { DecideParts } from "./parts.ts";

/** Jobs taken in one tick, so that its work stays bounded. */
const COMPLETE_MAX = 256;

export async function completeWaiting(
  parts: DecideParts,
  tx: Transaction,
  claiming: Claiming,
): Promise<void> {
  const { claims, claimMax } = claiming;
  const count = Math.min(COMPLETE_MAX, claimMax);
  for (const { job, execution } of await fetchClaimable(parts, tx, claiming, GLUE, count)) {
    const { run, nodeIndex, iteration } = execution;
    // An earlier job of this loop may have ended the run, or cancelled this node.
    if (!isClaimable(run, job)) continue;
    if (parts.aside.has(job.runId)) {
      claims.jobs.push({ ...jobOf(execution, ASIDE_MS), nodeType: GLUE });
      continue;
    }
    const fact = inlineFact(run.state, nodeIndex, iteration, claims.now, claims.inline);
    if (fact === undefined) {
      // The budget is spent, the node's queue is paused, or its context has grown: `place` knows where it waits now.
      claims.placeAgain(run, [execution]);
      continue;
    }
    claims.assumePauses();
    claims.append(run, fact);
    claims.planRun(run);
  }
  place(claims, parts);
}
