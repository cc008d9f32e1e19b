// Takes back the jobs and the slots of a run that is paused. The transaction that resumes the run places its executions again.

import { executionAt } from "@pawl/core/log/execution";
import { queuedExecutions } from "@pawl/core/plan/pause";
import { nodeIdAt } from "@pawl/core/plan/place";
import { isLimited } from "@pawl/core/policy/limit";
import type { CachedRun } from "./cache.ts";
import type { Draft } from "./draft.ts";
import { pendingKey, RUN_HOLDER } from "./slots.ts";

/** Drops the jobs and frees the slots of queued executions. Withdraws the request of a run that has not begun. */
export function withdrawAll(draft: Draft, run: CachedRun): void {
  const { state } = run;
  if (!state.isAdmitted) {
    draft.slots.free(run, RUN_HOLDER, state);
    draft.droppedJobs.push(pendingKey(run));
    return;
  }
  const queued = queuedExecutions(state);
  draft.dropJobs(run, queued);
  for (const { nodeIndex, iteration } of queued) {
    const execution = executionAt(state, nodeIndex, iteration);
    if (execution !== undefined && isLimited(execution))
      draft.slots.free(run, { nodeId: nodeIdAt(state, nodeIndex), iteration }, execution);
  }
}
