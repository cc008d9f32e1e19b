// Reads a run's whole log again, without its snapshot. If the log is whole, it lifts the quarantine and repairs forgotten work of the run.
// A repeated call changes nothing, so the scheduler stores no request id for it.

import { EngineError } from "@pawl/core/fault/engine-error";
import type { RunId } from "@pawl/core/name/ids";
import type { LoadedRun } from "@pawl/platform/store/runs/runs";
import { DEFAULT_TENANT } from "@pawl/core/name/tenant";
import { runNotFound } from "@pawl/platform/wire/run";
import type { KnownPauses } from "../commit/pauses.ts";
import { noteOfWorkflow } from "../commit/pauses.ts";
import { strayDetail } from "../inputs/quarantine.ts";
import { corruption, stateOf } from "../commit/load-run.ts";
import { type ResumeParts, resumeRuns } from "./resume-runs.ts";
import { askPause } from "./pause-run.ts";

/** @throws RUN_NOT_FOUND, EVENT_LOG_CORRUPTION if the log is not whole; the run is then in quarantine */
export async function recheckRun(
  parts: ResumeParts & { readonly known: KnownPauses },
  { runId }: { readonly runId: RunId },
): Promise<RunId> {
  const [run] = await parts.journal.load([{ runId, afterSeq: 0 }]);
  if (run === undefined) throw runNotFound(runId);
  const fault = (await faultOf(parts, run)) ?? (await strayOf(parts, runId));
  if (fault !== undefined) {
    // Wait for the mark. A late mark would put the run into quarantine again after the next recheck has released it.
    await parts.mark(runId, { reason: "EVENT_LOG_CORRUPTION", detail: fault.message });
    throw new EngineError(
      "EVENT_LOG_CORRUPTION",
      `The log of run ${runId} is not whole: ${fault.message}. Repair the rows of run_events, from a backup if some are missing, then recheck again.`,
      { metadata: { ...fault.metadata, run_id: runId }, cause: fault },
    );
  }
  if (run.quarantine !== null && (await parts.recovery.release(runId)))
    parts.log.info({ run_id: runId }, "a run was released from quarantine");
  // A user paused or resumed the workflow during the quarantine, and this run did not follow.
  const pause = parts.known.current.workflow(DEFAULT_TENANT, run.workflowId);
  if (pause !== undefined) await askPause(parts, "pause", runId, noteOfWorkflow(pause));
  if (!run.hasEnded) await resumeRuns(parts, [runId]);
  return runId;
}

/** Finds an event behind the end of the log. With such an event the store refuses every further event. */
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
