// Reads bulks and their runs.

import type { BulkOutcome } from "@pawl/core/bulk/bulk";
import { list, number, text, uuid } from "../../db/columns.ts";
import { first, queriesBeside, type Queryable, run } from "../../db/query.ts";
import { NEWEST_FIRST, type Page, type PageRequest, readPage } from "../page.ts";
import {
  BULK,
  BULK_KEY,
  BULK_RUN,
  type BulkCount,
  type BulkKey,
  type BulkRecord,
  type BulkRunRecord,
  COUNT,
} from "./bulks.ts";

const declare = queriesBeside(import.meta.url);

const ofTenant = declare("of_tenant", BULK_KEY, BULK);
const page = declare("page", { tenantId: text(), before: uuid(), limit: number() }, BULK);
const counts = declare("counts", { bulkId: uuid() }, COUNT);
const runs = declare(
  "runs",
  { bulkId: uuid(), after: number(), outcomes: list(text()), limit: number() },
  BULK_RUN,
);

/** One bulk, or undefined. @throws STORE_UNAVAILABLE */
export const getBulk = (db: Queryable, key: BulkKey): Promise<BulkRecord | undefined> =>
  first(db, ofTenant, key);

/** How many runs of a bulk failed or were skipped, by reason. @throws STORE_UNAVAILABLE */
export const countBulk = (db: Queryable, bulkId: string): Promise<BulkCount[]> =>
  run(db, counts, { bulkId });

/** Bulks, newest first. @throws INPUT_INVALID for a token of another list, STORE_UNAVAILABLE */
export const listBulks = (
  db: Queryable,
  tenantId: string,
  asked: PageRequest,
): Promise<Page<BulkRecord>> =>
  readPage(asked, {
    ...NEWEST_FIRST,
    filter: `bulks ${tenantId}`,
    keyOf: ({ bulkId }) => bulkId,
    read: (before, limit) => run(db, page, { tenantId, before, limit }),
  });

/** Runs of a bulk in order. @throws INPUT_INVALID for a token of another filter, STORE_UNAVAILABLE */
export const listBulkRuns = (
  db: Queryable,
  bulkId: string,
  asked: readonly BulkOutcome[],
  request: PageRequest,
): Promise<Page<BulkRunRecord>> => {
  const outcomes = [...new Set(asked)].toSorted();
  return readPage(request, {
    begin: "0",
    isPlace: (place) => /^\d{1,9}$/.test(place),
    filter: `bulk runs ${bulkId} ${outcomes.join()}`,
    keyOf: ({ position }) => String(position),
    read: (after, limit) => run(db, runs, { bulkId, outcomes, after: Number(after), limit }),
  });
};
