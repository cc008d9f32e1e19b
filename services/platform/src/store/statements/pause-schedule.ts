// Holds a schedule: it has no next occurrence until it is resumed.

import type { Statement } from "../../db/sql.ts";

export const pauseSchedule: Statement = {
  name: "pawl_pause_schedule",
  text: `
update schedules
set paused_at = now(),
  paused_by = $3::text,
  pause_reason = $4::text,
  next_at = null,
  alarm_id = null,
  updated_at = now()
where tenant_id = $1::text
  and schedule_id = $2::text
returning tenant_id, schedule_id, workflow_id, workflow_version, expression, time_zone, input, priority, missed, overlap, version,
  next_at, alarm_id, paused_at, paused_by, pause_reason, last_at, last_run_id, last_error, started_count, skipped_count,
  request_id, request_hash, created_at, updated_at
`,
};
