// Errors that more than one command answers with.

import { EngineError, type ErrorMetadata } from "@pawl/core/fault/engine-error";
import { unreachable } from "@pawl/core/fault/invariant";

export const runFinished = (metadata: ErrorMetadata): EngineError =>
  new EngineError("RUN_ALREADY_FINISHED", "The run has ended; nothing was changed.", { metadata });

export const workflowNotFound = (workflowId: string, version = 0): EngineError =>
  new EngineError(
    "WORKFLOW_NOT_FOUND",
    version === 0
      ? `There is no workflow ${workflowId}.`
      : `Workflow ${workflowId} has no version ${version}.`,
    { metadata: { workflow_id: workflowId, version: String(version) } },
  );

export const scheduleNotFound = (scheduleId: string): EngineError =>
  new EngineError("SCHEDULE_NOT_FOUND", `There is no schedule ${scheduleId}.`, {
    metadata: { schedule_id: scheduleId },
  });

export const endpointNotFound = (endpointId: string): EngineError =>
  new EngineError("WEBHOOK_ENDPOINT_NOT_FOUND", `There is no webhook endpoint ${endpointId}.`, {
    metadata: { endpoint_id: endpointId },
  });

/** A client used a request id again with another body. */
export const requestReused = (metadata: ErrorMetadata): EngineError =>
  new EngineError(
    "REQUEST_ID_REUSED",
    "This request id was used before with another body; use a new one.",
    { metadata },
  );

/** Why the store did not save a workflow or a schedule. */
type NotSaved =
  | { readonly kind: "exists" | "missing" | "request_reused" }
  | { readonly kind: "version_mismatch"; readonly currentVersion: number };

export function notSaved(
  noun: "workflow" | "schedule",
  id: string,
  requestId: string | null,
  why: NotSaved,
): EngineError {
  const metadata = noun === "workflow" ? { workflow_id: id } : { schedule_id: id };
  switch (why.kind) {
    case "exists": {
      const reason = noun === "workflow" ? "WORKFLOW_EXISTS" : "SCHEDULE_EXISTS";
      const message = `There is a ${noun} ${id} already; update it instead.`;
      return new EngineError(reason, message, { metadata });
    }
    case "missing":
      return noun === "workflow" ? workflowNotFound(id) : scheduleNotFound(id);
    case "version_mismatch": {
      const { currentVersion } = why;
      const named = noun === "workflow" ? "Workflow" : "Schedule";
      return new EngineError(
        "VERSION_MISMATCH",
        `${named} ${id} is at version ${currentVersion} by now; read it and edit again.`,
        { metadata: { ...metadata, current_version: String(currentVersion) } },
      );
    }
    case "request_reused":
      return requestReused({ ...metadata, request_id: requestId ?? "" });
    default:
      return unreachable(why, "save result");
  }
}
