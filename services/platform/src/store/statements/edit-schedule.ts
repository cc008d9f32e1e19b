// Replaces what was asked for, and with it the next occurrence.

import type { Statement } from "../../db/sql.ts";

export const editSchedule: Statement = {
  name: "pawl_edit_schedule",
  text: `
update schedules
set workflow_id = $3::text,
  workflow_version = $4::integer,
  expression = $5::text,
  time_zone = $6::text,
  input = $7::text,
  priority = $8::integer,
  missed = $9::text,
  overlap = $10::text,
  request_id = $11::text,
  request_hash = $12::text,
  next_at = to_timestamp($13::double precision / 1000.0),
  alarm_id = $14::uuid,
  version = version + 1,
  updated_at = now()
where tenant_id = $1::text
  and schedule_id = $2::text
returning tenant_id, schedule_id, workflow_id, workflow_version, expression, time_zone, input, priority, missed, overlap, version,
  next_at, alarm_id, paused_at, paused_by, pause_reason, last_at, last_run_id, last_error, started_count, skipped_count,
  request_id, request_hash, created_at, updated_at
`,
};
