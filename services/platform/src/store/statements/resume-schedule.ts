// Lets a schedule go on from its next occurrence.

import type { Statement } from "../../db/sql.ts";

export const resumeSchedule: Statement = {
  name: "pawl_resume_schedule",
  text: `
update schedules
set paused_at = null,
  paused_by = '',
  pause_reason = '',
  next_at = to_timestamp($3::double precision / 1000.0),
  alarm_id = $4::uuid,
  updated_at = now()
where tenant_id = $1::text
  and schedule_id = $2::text
returning tenant_id, schedule_id, workflow_id, workflow_version, expression, time_zone, input, priority, missed, overlap, version,
  next_at, alarm_id, paused_at, paused_by, pause_reason, last_at, last_run_id, last_error, started_count, skipped_count,
  request_id, request_hash, created_at, updated_at
`,
};
