// BulkService at the gateway: reads here, commands checked and forwarded.

import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { DEFAULT_TENANT } from "@pawl/core/name/tenant";
import type { BulkRecord } from "@pawl/platform/store/bulks/bulks";
import { countBulk, getBulk, listBulkRuns, listBulks } from "@pawl/platform/store/bulks/reads";
import { valuesOf } from "@pawl/platform/wire/fields";
import {
  bulkIdOf,
  bulkNotFound,
  fromWireBulkOutcome,
  parseBulkCommand,
  parseStartBulk,
  parseStopBulk,
  toWireBulk,
  toWireBulkCount,
  toWireBulkRun,
} from "@pawl/platform/wire/bulk";
import {
  type BulkService,
  GetBulkResponseSchema,
  ListBulkRunsResponseSchema,
  ListBulksResponseSchema,
} from "@pawl/proto/pawl/v1/bulk_service_pb";
import { forwarded } from "../request/forward.ts";
import type { ServiceParts } from "./service-parts.ts";

export const createBulkService = ({
  pool,
  pages,
  scheduler: { bulks },
}: ServiceParts): ServiceImpl<typeof BulkService> => {
  /** @throws INPUT_INVALID, BULK_NOT_FOUND, STORE_UNAVAILABLE */
  const find = async (text: string): Promise<BulkRecord> => {
    const bulkId = bulkIdOf(text);
    const bulk = await getBulk(pool, { tenantId: DEFAULT_TENANT, bulkId });
    if (bulk === undefined) throw bulkNotFound(bulkId);
    return bulk;
  };
  return {
    startBulk: forwarded(bulks.startBulk, parseStartBulk),
    continueBulk: forwarded(bulks.continueBulk, parseBulkCommand),
    stopBulk: forwarded(bulks.stopBulk, parseStopBulk),
    getBulk: async (request) => {
      const bulk = await find(request.bulkId);
      const reasons = (await countBulk(pool, bulk.bulkId)).map(toWireBulkCount);
      return create(GetBulkResponseSchema, { bulk: toWireBulk(bulk), reasons });
    },
    listBulks: async (request) => {
      const { rows, nextPageToken } = await pages.page(request, (asked) =>
        listBulks(pool, DEFAULT_TENANT, asked),
      );
      return create(ListBulksResponseSchema, { bulks: rows.map(toWireBulk), nextPageToken });
    },
    listBulkRuns: async (request) => {
      const asked = valuesOf("outcomes", "an outcome", request.outcomes, fromWireBulkOutcome);
      const { bulkId } = await find(request.bulkId);
      const { rows, nextPageToken } = await pages.page(request, (page) =>
        listBulkRuns(pool, bulkId, asked, page),
      );
      return create(ListBulkRunsResponseSchema, { runs: rows.map(toWireBulkRun), nextPageToken });
    },
  };
};
