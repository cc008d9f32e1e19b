// Pauses and resumptions in the tick. A paused run has no jobs: the transaction that pauses it drops them. A node that a retry or a lost
// claim queues meanwhile gets none. The transaction that resumes the run places all of them.
//
// Races. Another scheduler claims a node at the same time: both write the run's version, and one of them starts again on a fresh fold. A
// scheduler takes a job while another drops it: the first one finds that the job is not claimable. A user pauses a workflow while another
// resumes one of its runs, or the reverse: the run follows the pauses that the commit proves.

import { onPause, onResume, queuedExecutions } from "@pawl/core/plan/pause";
import { onRaise } from "@pawl/core/plan/raise";
import { DEFAULT_TENANT } from "@pawl/core/name/tenant";
import type { PauseRecord } from "@pawl/platform/store/pauses/pauses";
import { noteOfWorkflow } from "../commit/pauses.ts";
import type { CachedRun } from "../commit/cache.ts";
import type { Draft } from "../commit/draft.ts";
import { withdrawAll } from "../commit/withdraw.ts";
import type { PauseInput, RaiseInput } from "../inputs/input.ts";
import { askToBegin, withdrawStart } from "./begin.ts";
import type { Settled } from "./settle.ts";

/** Drafts a pause or a resumption. If it changes nothing, the tick judges it again on a fresh fold before it answers. */
export function settlePause(draft: Draft, run: CachedRun, input: PauseInput): Settled {
  const { state } = run;
  const { note, answer } = input;
  const isHeld = draft.pauses.workflow(DEFAULT_TENANT, run.workflowId) !== undefined;
  // A user paused or resumed the workflow again since this walk over its runs began.
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

/** Accepts and pauses a run of a paused workflow. The run requests its slots when it resumes. */
export function beginPaused(draft: Draft, run: CachedRun, pause: PauseRecord): void {
  const result = onPause(run.state, noteOfWorkflow(pause));
  if (result.kind !== "accepted") return;
  withdrawStart(draft, run);
  for (const fact of result.facts) draft.append(run, fact);
}

/** Places queued executions, or requests their slots again. Requests the slot of a run that has not begun. */
function placeAll(draft: Draft, run: CachedRun): void {
  if (run.state.isAdmitted) draft.placeAgain(run, queuedExecutions(run.state));
  else askToBegin(draft, run);
}

/** Drafts a raise of a run's budget. A run that paused for its budget continues, unless its workflow is paused. */
export function settleRaise(draft: Draft, run: CachedRun, input: RaiseInput): Settled {
  const { raise, answer } = input;
  const isHeld = draft.pauses.workflow(DEFAULT_TENANT, run.workflowId) !== undefined;
  const result = onRaise(run.state, raise, { now: draft.now, mayResume: !isHeld });
  if (result.kind !== "accepted")
    return { kind: "doubtful", refuse: () => answer.resolve(result.kind) };
  for (const fact of result.facts) draft.append(run, fact);
  if (run.state.parent !== undefined) draft.raised.push({ run, raise });
  if (result.resumes) {
    draft.assumesPauses = true;
    placeAll(draft, run);
  }
  return { kind: "drafted", reply: () => answer.resolve("raised") };
}
