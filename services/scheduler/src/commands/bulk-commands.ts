// The commands about bulks, as the scheduler serves them to gateways.

import { DEFAULT_TENANT } from "@pawl/core/name/tenant";
import { invalidField } from "@pawl/core/fault/engine-error";
import type { Queryable } from "@pawl/platform/db/query";
import { serve, type ServedService } from "@pawl/platform/rpc/implementation";
import { getRunFilter } from "@pawl/platform/store/filters/reads";
import {
  parseBulkCommand,
  parseStartBulk,
  parseStopBulk,
  toWireBulk,
} from "@pawl/platform/wire/bulk";
import { wholeFilter } from "@pawl/platform/wire/filter";
import { BulkService } from "@pawl/proto/pawl/v1/bulk_service_pb";
import { type BulkParts, continueBulk, startBulk, stopBulk } from "./bulks.ts";

const tenantId = DEFAULT_TENANT;

export const bulkCommands = (parts: BulkParts, db: Queryable): ServedService =>
  serve(BulkService, {
    startBulk: async (request) => {
      const asked = parseStartBulk(request);
      const filter = await wholeFilter(request, (name) => getRunFilter(db, { tenantId, name }));
      if (filter === undefined) throw invalidField("filter", "REQUIRED", "is empty");
      const { bulk, preview, duplicate } = await startBulk(parts, db, tenantId, {
        ...asked,
        filter,
      });
      return {
        ...(bulk === undefined ? {} : { bulk: toWireBulk(bulk) }),
        ...(preview === undefined ? {} : { preview }),
        duplicate,
      };
    },
    continueBulk: async (request) => {
      const key = { tenantId, ...parseBulkCommand(request) };
      return { bulk: toWireBulk(await continueBulk(parts, db, key)) };
    },
    stopBulk: async (request) => {
      const { bulkId, reason } = parseStopBulk(request);
      return { bulk: toWireBulk(await stopBulk(parts, db, { tenantId, bulkId }, reason)) };
    },
  });
