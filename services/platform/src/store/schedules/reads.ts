// Reads schedules.

import { number, text } from "../../db/columns.ts";
import { first, queriesBeside, type Queryable, run } from "../../db/query.ts";
import { type PageRequest, readPage } from "../page.ts";
import { SCHEDULE, SCHEDULE_KEY, type SchedulePage, type ScheduleRecord } from "./schedules.ts";

const declare = queriesBeside(import.meta.url);

const PAGE = { tenantId: text(), after: text(), limit: number() };
const one = declare("one", SCHEDULE_KEY, SCHEDULE);
const page = declare("page", PAGE, SCHEDULE);
const pageOfWorkflow = declare("page_of_workflow", { ...PAGE, workflowId: text() }, SCHEDULE);

/** One schedule, or undefined. @throws STORE_UNAVAILABLE */
export const getSchedule = (
  db: Queryable,
  tenantId: string,
  scheduleId: string,
): Promise<ScheduleRecord | undefined> => first(db, one, { tenantId, scheduleId });

/** Schedules in order of id. @throws INPUT_INVALID for a token of another list, STORE_UNAVAILABLE */
export async function listSchedules(
  db: Queryable,
  tenantId: string,
  workflowId: string,
  asked: PageRequest,
): Promise<SchedulePage> {
  return await readPage(asked, {
    filter: `schedules ${JSON.stringify([tenantId, workflowId])}`,
    keyOf: (row) => row.scheduleId,
    read: (after, limit) =>
      workflowId === ""
        ? run(db, page, { tenantId, after, limit })
        : run(db, pageOfWorkflow, { tenantId, after, limit, workflowId }),
  });
}
