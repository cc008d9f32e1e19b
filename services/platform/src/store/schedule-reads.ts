// The read side of schedules.

import { type Queryable, run } from "../db/sql.ts";
import { fromPageToken, toPageToken } from "./page-token.ts";
import { type ScheduleRow, toSchedule } from "./schedule-row.ts";
import type { ScheduleRecord } from "./schedules.ts";
import { readSchedulePageOfWorkflow } from "./statements/read-schedule-page-of-workflow.ts";
import { readSchedulePage } from "./statements/read-schedule-page.ts";
import { readSchedule } from "./statements/read-schedule.ts";

export interface SchedulePage {
  /** Without inputs. */
  readonly schedules: readonly ScheduleRecord[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
}

/** One schedule, or undefined. @throws STORE_UNAVAILABLE */
export async function getSchedule(
  db: Queryable,
  tenantId: string,
  scheduleId: string,
): Promise<ScheduleRecord | undefined> {
  const [row] = await run<ScheduleRow>(db, readSchedule, [tenantId, scheduleId]);
  return row === undefined ? undefined : toSchedule(row);
}

/** Schedules in order of id. @throws INPUT_INVALID for a token of another list, STORE_UNAVAILABLE */
export async function listSchedules(
  db: Queryable,
  tenantId: string,
  workflowId: string,
  page: { readonly size: number; readonly token: string },
): Promise<SchedulePage> {
  const bound = `schedules ${JSON.stringify([tenantId, workflowId])}`;
  const after = page.token === "" ? "" : fromPageToken(page.token, bound);
  const values = [tenantId, after, page.size + 1];
  const rows =
    workflowId === ""
      ? await run<ScheduleRow>(db, readSchedulePage, values)
      : await run<ScheduleRow>(db, readSchedulePageOfWorkflow, [...values, workflowId]);
  const schedules = rows.slice(0, page.size).map(toSchedule);
  const last = schedules.at(-1);
  const hasMore = rows.length > page.size && last !== undefined;
  return { schedules, nextPageToken: hasMore ? toPageToken(last.scheduleId, bound) : "" };
}
