// Pauses and resumptions in the tick. A paused run has no jobs: the transaction that pauses it drops them, and a node that a retry or a lost
// claim queues meanwhile gets none. The transaction that resumes the run places all of them.
//
// The races it survives. Another scheduler claims a node at the same time: the two meet at the run's version, and one of them begins
// again on a fresh fold. A job is taken while it is dropped: its taker finds that it is not claimable. A workflow is paused or resumed
// while a user does the opposite with one of its runs: the run follows the pauses that the commit proves.

import { executionAt } from "@pawl/core/log/execution";
import { nodeIdAt } from "@pawl/core/plan/place";
import { PENDING_RUNS } from "@pawl/platform/queue/queue";
import { onPause, onResume, queuedExecutions } from "@pawl/core/plan/pause";
import { isLimited } from "@pawl/core/policy/limit";
import { DEFAULT_TENANT } from "@pawl/core/name/tenant";
import type { PauseRecord } from "@pawl/platform/store/pauses/pauses";
import { noteOfWorkflow } from "../commit/pauses.ts";
import type { CachedRun } from "../commit/cache.ts";
import type { Draft } from "../commit/draft.ts";
import { RUN_HOLDER } from "../commit/slots.ts";
import type { PauseInput } from "../inputs/input.ts";
import type { Settled } from "./settle.ts";

/** Drafts a pause or a resumption. One that changes nothing is judged again on a fresh fold before it is answered. */
export function settlePause(draft: Draft, run: CachedRun, input: PauseInput): Settled {
  const { state } = run;
  const { note, answer } = input;
  const isHeld = draft.pauses.workflow(DEFAULT_TENANT, run.workflowId) !== undefined;
  // The workflow was paused or resumed again since this walk over its runs began.
  if (note.scope === "workflow" && isHeld !== (input.kind === "pause"))
    return { kind: "doubtful", refuse: () => answer.resolve("done") };
  const result = input.kind === "pause" ? onPause(state, note) : onResume(state, note, draft.now);
  if (result.kind === "accepted" && input.kind === "resume" && isHeld)
    return { kind: "doubtful", refuse: () => answer.resolve("held_by_workflow") };
  if (result.kind !== "accepted") {
    const said = result.kind === "repeated" ? "done" : result.kind;
    return { kind: "doubtful", refuse: () => answer.resolve(said) };
  }
  if (note.scope === "workflow" || input.kind === "resume") draft.assumesPauses = true;
  const wasPaused = state.status === "paused";
  for (const fact of result.facts) draft.append(run, fact);
  if (input.kind === "resume") placeAll(draft, run);
  else if (!wasPaused) withdrawAll(draft, run);
  return { kind: "drafted", reply: () => answer.resolve("done") };
}

/** A run of a paused workflow is accepted and paused at once. It asks for its slots again when it resumes. */
export function beginPaused(draft: Draft, run: CachedRun, pause: PauseRecord): void {
  const result = onPause(run.state, noteOfWorkflow(pause));
  if (result.kind !== "accepted") return;
  draft.slots.withdrawRun(run);
  for (const fact of result.facts) draft.append(run, fact);
}

/** Queued executions get a job or ask for their slots again; a run that has not begun asks for its slot. */
function placeAll(draft: Draft, run: CachedRun): void {
  if (run.state.isAdmitted) draft.placeAgain(run, queuedExecutions(run.state));
  else draft.slots.askRun(run);
}

/** Drops the jobs and frees the slots of queued executions; a run that has not begun leaves the line of its workflow. */
export function withdrawAll(draft: Draft, run: CachedRun): void {
  const { state } = run;
  if (!state.isAdmitted) {
    draft.slots.free(run, RUN_HOLDER, state);
    const job = { runId: state.runId, ...RUN_HOLDER, attempt: 1 };
    draft.droppedJobs.push({ ...job, nodeType: PENDING_RUNS });
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
