// A row of the table schedules as code reads it.

import type { MissedPolicy, OverlapPolicy } from "@pawl/core/policy/schedule";
import type { RunId } from "@pawl/core/name/ids";
import type { ScheduleRecord } from "./schedules.ts";

export interface ScheduleRow {
  readonly tenant_id: string;
  readonly schedule_id: string;
  readonly workflow_id: string;
  readonly workflow_version: number;
  readonly expression: string;
  readonly time_zone: string;
  /** Null in lists. */
  readonly input: string | null;
  readonly priority: number;
  readonly missed: MissedPolicy;
  readonly overlap: OverlapPolicy;
  readonly version: number;
  readonly next_at: Date | null;
  readonly alarm_id: string | null;
  readonly paused_at: Date | null;
  readonly paused_by: string;
  readonly pause_reason: string;
  readonly last_at: Date | null;
  readonly last_run_id: RunId | null;
  readonly last_error: string;
  readonly started_count: number;
  readonly skipped_count: number;
  readonly request_id: string | null;
  readonly request_hash: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

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
