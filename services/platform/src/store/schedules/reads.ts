// Reads schedules.

import type { RunId } from "@pawl/core/name/ids";
import type { MissedPolicy, OverlapPolicy } from "@pawl/core/policy/schedule";
import { number, orNull, text, time, uuid } from "../../db/columns.ts";
import { queriesBeside, run, type Typed } from "../../db/query.ts";
import type { Queryable } from "../../db/sql.ts";
import { pageInOrder, type PageRequest } from "../page.ts";
import type { SchedulePage, ScheduleRecord } from "./schedules.ts";

const declare = queriesBeside(import.meta.url);

/** The columns of a schedule. */
export const SCHEDULE = {
  tenant_id: text(),
  schedule_id: text(),
  workflow_id: text(),
  workflow_version: number(),
  expression: text(),
  time_zone: text(),
  /** Null in lists. */
  input: orNull(text()),
  priority: number(),
  missed: text<MissedPolicy>(),
  overlap: text<OverlapPolicy>(),
  version: number(),
  next_at: orNull(time()),
  alarm_id: orNull(uuid()),
  paused_at: orNull(time()),
  paused_by: text(),
  pause_reason: text(),
  last_at: orNull(time()),
  last_run_id: orNull(uuid<RunId>()),
  last_error: text(),
  started_count: number(),
  skipped_count: number(),
  request_id: orNull(text()),
  request_hash: orNull(text()),
  created_at: time(),
  updated_at: time(),
};
export type ScheduleRow = Typed<typeof SCHEDULE>;

const PAGE = { tenantId: text(), after: text(), limit: number() };
const one = declare("one", { tenantId: text(), scheduleId: text() }, SCHEDULE);
const page = declare("page", PAGE, SCHEDULE);
const pageOfWorkflow = declare("page_of_workflow", { ...PAGE, workflowId: text() }, SCHEDULE);

export const toSchedule = (row: ScheduleRow): ScheduleRecord => ({
  tenantId: row.tenant_id,
  scheduleId: row.schedule_id,
  spec: {
    workflowId: row.workflow_id,
    workflowVersion: row.workflow_version,
    expression: row.expression,
    timeZone: row.time_zone,
    input: row.input ?? "",
    priority: row.priority,
    missed: row.missed,
    overlap: row.overlap,
  },
  version: row.version,
  nextAt: row.next_at?.getTime() ?? null,
  pause:
    row.paused_at === null
      ? null
      : { at: row.paused_at.getTime(), by: row.paused_by, reason: row.pause_reason },
  lastAt: row.last_at?.getTime() ?? null,
  lastRunId: row.last_run_id,
  lastError: row.last_error,
  startedCount: row.started_count,
  skippedCount: row.skipped_count,
  createdAt: row.created_at.getTime(),
  updatedAt: row.updated_at.getTime(),
});

/** One schedule, or undefined. @throws STORE_UNAVAILABLE */
export async function getSchedule(
  db: Queryable,
  tenantId: string,
  scheduleId: string,
): Promise<ScheduleRecord | undefined> {
  const [row] = await run(db, one, { tenantId, scheduleId });
  return row === undefined ? undefined : toSchedule(row);
}

/** Schedules in order of id. @throws INPUT_INVALID for a token of another list, STORE_UNAVAILABLE */
export async function listSchedules(
  db: Queryable,
  tenantId: string,
  workflowId: string,
  asked: PageRequest,
): Promise<SchedulePage> {
  const { rows, nextPageToken } = await pageInOrder<ScheduleRow>(asked, {
    filter: `schedules ${JSON.stringify([tenantId, workflowId])}`,
    keyOf: (row) => row.schedule_id,
    read: (after, limit) =>
      workflowId === ""
        ? run(db, page, { tenantId, after, limit })
        : run(db, pageOfWorkflow, { tenantId, after, limit, workflowId }),
  });
  return { schedules: rows.map(toSchedule), nextPageToken };
}
