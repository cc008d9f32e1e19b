// Reads a run's whole log again, whatever snapshot there is, and lifts its quarantine when the log is whole. What was forgotten of
// the run meanwhile is put back in motion. Saying it twice does it twice, which changes nothing: it needs no memory of requests.

import { EngineError } from "@pawl/core/fault/engine-error";
import type { RunId } from "@pawl/core/name/ids";
import type { LoadedRun } from "@pawl/platform/store/runs/runs";
import { DEFAULT_TENANT } from "@pawl/core/name/tenant";
import { requestIdOf } from "@pawl/platform/wire/request-id";
import type { KnownPauses } from "../commit/known-pauses.ts";
import { noteOfWorkflow } from "../commit/workflow-note.ts";
import { strayDetail } from "../inputs/quarantine.ts";
import { corruption, stateOf } from "../commit/load-run.ts";
import { type ResumeParts, resumeRuns } from "./resume-runs.ts";
import { submitPause } from "./submit-pause.ts";
import { runIdOf } from "./request.ts";

/** @throws RUN_NOT_FOUND, EVENT_LOG_CORRUPTION when it is still not whole: it stays, or goes, in quarantine then */
export async function recheckRun(
  parts: ResumeParts & { readonly known: KnownPauses },
  request: { readonly runId: string; readonly requestId: string },
): Promise<RunId> {
  const runId = runIdOf(request.runId);
  requestIdOf(request.requestId);
  const [run] = await parts.journal.load([{ runId, afterSeq: 0 }]);
  if (run === undefined)
    throw new EngineError("RUN_NOT_FOUND", `There is no run ${runId}.`, {
      metadata: { run_id: runId },
    });
  const fault = (await faultOf(parts, run)) ?? (await strayOf(parts, runId));
  if (fault !== undefined) {
    // Waited for: a mark that is written late would put the run back after the next recheck has released it.
    await parts.mark(runId, { reason: "EVENT_LOG_CORRUPTION", detail: fault.message });
    throw new EngineError(
      "EVENT_LOG_CORRUPTION",
      `The log of run ${runId} is not whole: ${fault.message}. Put the rows of run_events right, from a backup where some are missing, then recheck again.`,
      { metadata: { ...fault.metadata, run_id: runId }, cause: fault },
    );
  }
  if (run.quarantine !== null && (await parts.recovery.release(runId)))
    parts.log.info({ run_id: runId }, "a run was released from quarantine");
  // A pause of its workflow passed it over.
  const pause = parts.known.current.workflow(DEFAULT_TENANT, run.workflowId);
  if (pause !== undefined) await submitPause(parts, "pause", runId, noteOfWorkflow(pause));
  if (!run.hasEnded) await resumeRuns(parts, [runId]);
  return runId;
}

/** A row behind the end of the log refuses every further event. */
async function strayOf({ recovery }: ResumeParts, runId: RunId): Promise<EngineError | undefined> {
  const [torn] = await recovery.tornRuns([runId]);
  return torn === undefined
    ? undefined
    : new EngineError("EVENT_LOG_CORRUPTION", strayDetail(torn.straySeq));
}

async function faultOf(
  { definitions }: ResumeParts,
  run: LoadedRun,
): Promise<EngineError | undefined> {
  try {
    await stateOf(definitions, run);
    return undefined;
  } catch (error) {
    return corruption(error);
  }
}
