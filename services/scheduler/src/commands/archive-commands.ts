// The commands about the archive, as the scheduler serves them to gateways.

import { DEFAULT_TENANT } from "@pawl/core/name/tenant";
import type { Queryable } from "@pawl/platform/db/query";
import { serve, type ServedService } from "@pawl/platform/rpc/implementation";
import { getRun } from "@pawl/platform/store/runs/reads";
import { parseRestore } from "@pawl/platform/wire/archive";
import { toWireRun } from "@pawl/platform/wire/run";
import { ArchiveService } from "@pawl/proto/pawl/v1/archive_service_pb";
import { runNotFound } from "@pawl/platform/wire/run";
import { type RestoreParts, restoreRun } from "./restore-run.ts";

export const archiveCommands = (parts: RestoreParts, db: Queryable): ServedService =>
  serve(ArchiveService, {
    restoreRun: async (request) => {
      const { runId } = parseRestore(request);
      const { restored, missing } = await restoreRun(parts, DEFAULT_TENANT, runId);
      const run = await getRun(db, DEFAULT_TENANT, runId);
      if (run === undefined) throw runNotFound(runId);
      return { run: toWireRun(run), restoredRunIds: restored, missingRunIds: missing };
    },
  });
