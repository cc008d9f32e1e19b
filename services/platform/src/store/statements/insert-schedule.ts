// Keeps a new schedule. An id that is taken violates the primary key.

import type { Statement } from "../../db/sql.ts";

export const insertSchedule: Statement = {
  name: "pawl_insert_schedule",
  text: `
insert into schedules (
  tenant_id, schedule_id, workflow_id, workflow_version, expression, time_zone, input, priority, missed, overlap,
  request_id, request_hash, next_at, alarm_id
)
values (
  $1::text, $2::text, $3::text, $4::integer, $5::text, $6::text, $7::text, $8::integer, $9::text, $10::text,
  $11::text, $12::text, to_timestamp($13::double precision / 1000.0), $14::uuid
)
returning tenant_id, schedule_id, workflow_id, workflow_version, expression, time_zone, input, priority, missed, overlap, version,
  next_at, alarm_id, paused_at, paused_by, pause_reason, last_at, last_run_id, last_error, started_count, skipped_count,
  request_id, request_hash, created_at, updated_at
`,
};
