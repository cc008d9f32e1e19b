// The schedules of alarms that have gone off, each only if the alarm is still its own. Never waits: an edit that holds the row may
// itself wait for the alarm, so this transaction gives up (55P03) and begins again. One probe of each index an alarm.

import type { Statement } from "../../db/sql.ts";

export const lockDueSchedules: Statement = {
  name: "pawl_lock_due_schedules",
  text: `
select s.*,
  coalesce((select r.ended_at is null from runs r where r.run_id = s.last_run_id), false) as is_last_run_live,
  extract(epoch from now())::double precision * 1000 as now_ms
from unnest($1::text[], $2::text[], $3::uuid[]) as a (tenant_id, schedule_id, alarm_id)
join schedules s
  on s.tenant_id = a.tenant_id
  and s.schedule_id = a.schedule_id
  and s.alarm_id = a.alarm_id
for update of s nowait
`,
};
