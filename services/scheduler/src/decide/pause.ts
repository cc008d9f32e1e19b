// Pauses and resumptions in the tick. A paused run has no jobs: those that waited are dropped in the transaction that pauses it, and
// what is queued meanwhile, by a retry or a lost claim, gets none. The transaction that resumes it places all of them.
//
// The races it survives: a claim elsewhere meets the pause at the run's version, and one of the two begins again on a fresh fold; a
// job that was just being taken when it was to be dropped is found not claimable by its taker. A workflow is paused, or goes on,
// while one of its runs is told otherwise: the run follows what the pauses say in the commit, whoever was told what.

import { executionAt } from "@pawl/core/log/execution";
import { nodeIdAt } from "@pawl/core/plan/place";
import { PENDING_RUNS } from "@pawl/platform/queue/queue";
import { onPause, onResume, queuedExecutions } from "@pawl/core/plan/pause";
import { DEFAULT_TENANT } from "@pawl/core/name/tenant";
import type { PauseRecord } from "@pawl/platform/store/pauses/pauses";
import { noteOfWorkflow } from "../commit/workflow-note.ts";
import type { CachedRun } from "../commit/cache.ts";
import type { Draft } from "../commit/draft.ts";
import { isLimited, NO_NODE } from "../commit/slots.ts";
import type { PauseInput } from "../inputs/input.ts";
import type { Settled } from "./settle.ts";

/** Drafts a pause or a resumption; whatever changes nothing is judged again on a fresh fold before it is answered. */
export function settlePause(draft: Draft, run: CachedRun, input: PauseInput): Settled {
  const { state } = run;
  const { note, answer } = input;
  const isHeld = draft.pauses.workflow(DEFAULT_TENANT, run.workflowId) !== undefined;
  // Somebody walks over the runs of a workflow which stands otherwise by now: what it offers is too late.
  if (note.scope === "workflow" && isHeld !== (input.kind === "pause"))
    return { kind: "doubtful", refuse: () => answer.resolve("done") };
  const result = input.kind === "pause" ? onPause(state, note) : onResume(state, note, draft.now);
  if (result.kind === "accepted" && input.kind === "resume" && isHeld)
    return { kind: "doubtful", refuse: () => answer.resolve("held_by_workflow") };
  if (result.kind !== "accepted") {
    const said = result.kind === "repeated" ? "done" : result.kind;
    return { kind: "doubtful", refuse: () => answer.resolve(said) };
  }
  if (note.scope === "workflow" || input.kind === "resume") draft.assumePauses();
  const wasPaused = state.status === "paused";
  for (const fact of result.facts) draft.append(run, fact);
  if (input.kind === "resume") placeAll(draft, run);
  else if (!wasPaused) withdrawAll(draft, run);
  return { kind: "drafted", reply: () => answer.resolve("done") };
}

/** A run of a paused workflow is accepted and held at once; what it asked for when it was, it asks for when it goes on. */
export function beginPaused(draft: Draft, run: CachedRun, pause: PauseRecord): void {
  const result = onPause(run.state, noteOfWorkflow(pause));
  if (result.kind !== "accepted") return;
  draft.slots.withdrawRun(run);
  for (const fact of result.facts) draft.append(run, fact);
}

/** Everything that waits to be claimed gets a job or asks for its slots again; a run that had not begun asks to begin. */
function placeAll(draft: Draft, run: CachedRun): void {
  if (run.state.isAdmitted) draft.placeAgain(run, queuedExecutions(run.state));
  else draft.slots.askRun(run);
}

/** Jobs and slots of everything that waits to be claimed; a run that had not begun leaves the line of its workflow. */
function withdrawAll(draft: Draft, run: CachedRun): void {
  const { state } = run;
  if (!state.isAdmitted) {
    draft.slots.movedRun(run, "over");
    const job = { runId: state.runId, nodeId: NO_NODE, iteration: 0, attempt: 1 };
    draft.droppedJobs.push({ ...job, nodeType: PENDING_RUNS });
    return;
  }
  const queued = queuedExecutions(state);
  draft.dropJobs(run, queued);
  for (const { nodeIndex, iteration } of queued) {
    const execution = executionAt(state, nodeIndex, iteration);
    if (execution !== undefined && isLimited(execution))
      draft.slots.withdraw(run, nodeIdAt(state, nodeIndex), iteration, execution);
  }
}
