// Schedules of one workflow in order of id, after an id, without their inputs. Walks schedules_by_workflow.

import type { Statement } from "../../db/sql.ts";

export const readSchedulePageOfWorkflow: Statement = {
  name: "pawl_read_schedule_page_of_workflow",
  text: `
select tenant_id, schedule_id, workflow_id, workflow_version, expression, time_zone, null::text as input, priority, missed, overlap, version,
  next_at, alarm_id, paused_at, paused_by, pause_reason, last_at, last_run_id, last_error, started_count, skipped_count,
  request_id, request_hash, created_at, updated_at
from schedules
where tenant_id = $1::text
  and workflow_id = $4::text
  and schedule_id > $2::text
order by schedule_id
limit $3::integer
`,
};
