// Lists daily budgets.

import { number, text } from "../../db/columns.ts";
import { queriesBeside, type Queryable, run } from "../../db/query.ts";
import { type PageRequest, readPage } from "../page.ts";
import { DAY, type DayPage } from "./days.ts";

/** A day and a workflow id contain no line break. */
const SEPARATOR = "\n";
const PLACE = /^\d{4}-\d\d-\d\d\n/v;

const page = queriesBeside(import.meta.url)(
  "page",
  {
    tenantId: text(),
    workflowId: text(),
    afterDay: text(),
    afterWorkflow: text(),
    limit: number(),
  },
  DAY,
);

/**
 * Days with what runs reserved and used: the newest first, then by workflow. `workflowId` "" means all workflows.
 * @throws INPUT_INVALID for a token of another list, STORE_UNAVAILABLE
 */
export async function listDays(
  db: Queryable,
  tenantId: string,
  workflowId: string,
  asked: PageRequest,
): Promise<DayPage> {
  return await readPage(asked, {
    filter: `days ${JSON.stringify([tenantId, workflowId])}`,
    begin: `9999-12-31${SEPARATOR}`,
    isPlace: (place) => PLACE.test(place),
    keyOf: (row) => [row.day, row.workflowId].join(SEPARATOR),
    read: (after, limit) => {
      const [afterDay = "", afterWorkflow = ""] = after.split(SEPARATOR);
      return run(db, page, { tenantId, workflowId, afterDay, afterWorkflow, limit });
    },
  });
}
