// Ends runs: cancels a live one, deletes a test run.

import { EngineError } from "@pawl/core/fault/engine-error";
import type { RunId } from "@pawl/core/name/ids";
import { LIMITS } from "@pawl/core/data/limits";
import { cleanText } from "../sessions/wire.ts";
import type { LoadedRun } from "@pawl/platform/store/runs/runs";
import { requestIdOf } from "@pawl/platform/wire/request-id";
import type { AdmitParts } from "./parts.ts";
import { runIdOf } from "./request.ts";

/** Cancels a run; its executors are told to abort. @throws RUN_NOT_FOUND, RUN_ALREADY_FINISHED */
export async function cancelRun(
  parts: AdmitParts,
  request: { readonly runId: string; readonly reason: string; readonly requestId: string },
): Promise<RunId> {
  const runId = runIdOf(request.runId);
  const requestId = requestIdOf(request.requestId) ?? "";
  const reason = cleanText(request.reason, LIMITS.labelLength);
  const known = await rowOf(parts, runId);
  // The same request again, after its answer was lost: it did what it asked for.
  if (known.hasEnded && requestId !== "" && (await wasCancelledBy(parts, known, requestId)))
    return runId;
  if ((await offerCancel(parts, runId, reason, requestId)) === "cancelled") return runId;
  throw new EngineError("RUN_ALREADY_FINISHED", "The run has ended; nothing was changed.", {
    metadata: { run_id: runId },
  });
}

async function offerCancel(
  { loop }: AdmitParts,
  runId: RunId,
  reason: string,
  requestId: string,
): Promise<"cancelled" | "finished"> {
  const { promise, resolve, reject } = Promise.withResolvers<"cancelled" | "finished">();
  loop.submit({ kind: "cancel", runId, reason, requestId, answer: { resolve, reject } });
  return await promise;
}

/** The run's row, without its log. @throws RUN_NOT_FOUND */
async function rowOf({ journal }: AdmitParts, runId: RunId): Promise<LoadedRun> {
  const [known] = await journal.load([{ runId, afterSeq: Number.MAX_SAFE_INTEGER }]);
  if (known === undefined) throw runNotFound(runId);
  return known;
}

async function wasCancelledBy(
  { journal }: AdmitParts,
  { runId, lastSeq }: LoadedRun,
  requestId: string,
): Promise<boolean> {
  const [known] = await journal.load([{ runId, afterSeq: lastSeq - 1 }]);
  const ended = known?.events.at(-1);
  return ended?.type === "run.cancelled" && ended.payload.requestId === requestId;
}

/** Deletes a test run whole, and cancels it before if it is live. @throws RUN_NOT_FOUND, RUN_NOT_DELETABLE */
export async function deleteRun(
  parts: AdmitParts,
  request: { readonly runId: string; readonly requestId: string },
): Promise<void> {
  const runId = runIdOf(request.runId);
  const requestId = requestIdOf(request.requestId) ?? "";
  if (await parts.journal.deleteTestRun(runId)) return;
  const { workflowId } = await rowOf(parts, runId);
  if (workflowId === null) {
    // A run that ended by itself meanwhile is as good as cancelled.
    await offerCancel(parts, runId, "deleted", requestId);
    if (await parts.journal.deleteTestRun(runId)) return;
    // Another call deleted it.
    await rowOf(parts, runId);
  }
  const message = "Runs of saved workflows keep their history; only a test run can be deleted.";
  throw new EngineError("RUN_NOT_DELETABLE", message, { metadata: { run_id: runId } });
}

const runNotFound = (runId: RunId): EngineError =>
  new EngineError("RUN_NOT_FOUND", `There is no run ${runId}.`, { metadata: { run_id: runId } });
