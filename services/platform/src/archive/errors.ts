// Errors that the scheduler and the gateway answer with.

import { EngineError } from "@pawl/core/fault/engine-error";
import type { ArchiveReads } from "./store.ts";

/** The archive. @throws ARCHIVE_NOT_CONFIGURED */
export function archiveOf<Archive extends ArchiveReads>(archive: Archive | undefined): Archive {
  if (archive !== undefined) return archive;
  throw new EngineError("ARCHIVE_NOT_CONFIGURED", "This deployment has no archive.", {
    metadata: { service: "archive" },
  });
}

export const archivedRunNotFound = (runId: string): EngineError =>
  new EngineError("ARCHIVED_RUN_NOT_FOUND", `The archive has no run ${runId}.`, {
    metadata: { run_id: runId },
  });

/** STORE_UNAVAILABLE for a failure of the archive. Errors of Pawl come back as they are. */
export function archiveFault(error: unknown): EngineError {
  if (error instanceof EngineError) return error;
  const why = error instanceof Error ? error.message : String(error);
  return new EngineError("STORE_UNAVAILABLE", `the archive failed: ${why}`, { cause: error });
}
