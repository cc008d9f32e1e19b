// A schedule that nobody else changes before this transaction ends.

import type { Statement } from "../../db/sql.ts";

export const lockSchedule: Statement = {
  name: "pawl_lock_schedule",
  text: `
select tenant_id, schedule_id, workflow_id, workflow_version, expression, time_zone, input, priority, missed, overlap, version,
  next_at, alarm_id, paused_at, paused_by, pause_reason, last_at, last_run_id, last_error, started_count, skipped_count,
  request_id, request_hash, created_at, updated_at
from schedules
where tenant_id = $1::text
  and schedule_id = $2::text
for update
`,
};
