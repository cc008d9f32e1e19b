// Moves schedules on after their alarms have gone off. Their rows are locked by this transaction.

import type { Statement } from "../../db/sql.ts";

export const moveSchedules: Statement = {
  name: "pawl_move_schedules",
  text: `
update schedules s
set next_at = to_timestamp(m.next_at / 1000.0),
  alarm_id = m.alarm_id,
  last_at = to_timestamp(m.last_at / 1000.0),
  last_run_id = coalesce(m.run_id, s.last_run_id),
  last_error = m.last_error,
  started_count = s.started_count + m.started_count,
  skipped_count = s.skipped_count + m.skipped_count
from unnest(
  $1::text[], $2::text[], $3::double precision[], $4::uuid[], $5::double precision[], $6::uuid[], $7::text[], $8::bigint[],
  $9::bigint[]
) as m (tenant_id, schedule_id, next_at, alarm_id, last_at, run_id, last_error, started_count, skipped_count)
where s.tenant_id = m.tenant_id
  and s.schedule_id = m.schedule_id
`,
};
