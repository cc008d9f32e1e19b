// Ends runs: cancels a live run, deletes a test run or a temporary run.

import { EngineError } from "@pawl/core/fault/engine-error";
import type { RunKind, StopMode } from "@pawl/core/log/event";
import type { RunId } from "@pawl/core/name/ids";
import type { LoadedRun } from "@pawl/platform/store/runs/runs";
import { runNotFound } from "@pawl/platform/wire/run";
import { runFinished } from "../inputs/errors.ts";
import type { AdmitParts } from "./parts.ts";

interface CancelRequest {
  readonly runId: RunId;
  readonly reason: string;
  readonly requestId: string;
  /** Whether to undo completed nodes first. The definition decides if absent. */
  readonly compensate?: boolean | undefined;
  /** Set for an interrupt and a rollback. */
  readonly stop?: StopMode | undefined;
}

/** Cancels a run. The scheduler sends its executors Cancel. @throws RUN_NOT_FOUND, RUN_ALREADY_FINISHED */
export async function cancelRun(parts: AdmitParts, request: CancelRequest): Promise<RunId> {
  const { runId, requestId } = request;
  const known = await rowOf(parts, runId);
  // The client repeats a request after it lost the answer. The first request has cancelled the run.
  if (known.hasEnded && requestId !== "" && (await wasCancelledBy(parts, known, requestId)))
    return runId;
  if ((await askCancel(parts, request)) === "cancelled") return runId;
  throw runFinished({ run_id: runId });
}

const askCancel = ({ loop }: AdmitParts, request: CancelRequest) =>
  loop.ask<"cancelled" | "finished">((answer) => ({ kind: "cancel", ...request, answer }));

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

/** Deletes a test run or a temporary run whole, and cancels it before if it is live. @throws RUN_NOT_FOUND, RUN_NOT_DELETABLE */
export async function deleteRun(
  parts: AdmitParts,
  { runId, requestId }: Pick<CancelRequest, "runId" | "requestId">,
): Promise<void> {
  const remove = async (): Promise<boolean> =>
    (await parts.journal.deleteUnkept([runId])).length > 0;
  if (await remove()) return;
  const { kind, isChild } = await rowOf(parts, runId);
  if (kind !== "saved" && !isChild) {
    // The run may also end by itself meanwhile.
    await askCancel(parts, { runId, reason: "deleted", requestId, compensate: false });
    if (await remove()) return;
    // Another call deleted it, or a run below it still undoes its nodes.
    await rowOf(parts, runId);
  }
  throw new EngineError("RUN_NOT_DELETABLE", whyKept(kind, isChild), {
    metadata: { run_id: runId },
  });
}

function whyKept(kind: RunKind, isChild: boolean): string {
  if (kind === "saved")
    return "Runs of saved workflows keep their history; only a test run or a temporary run can be deleted.";
  return isChild
    ? "The run belongs to the run whose node started it, and is deleted with it."
    : "A run that it started still undoes its nodes; delete it afterwards.";
}
