// A delivery failed: the command waits again, or is a dead letter when it was the last it had.

import type { Statement } from "../../db/sql.ts";

export const nackWorkflowJob: Statement = {
  name: "pawl_nack_workflow_job",
  text: `
update workflow_jobs
set attempts = attempts + 1,
  status = case when attempts + 1 >= max_attempts then 'dead_letter' else 'waiting' end,
  error = $3::text,
  changed_at = coalesce($4::timestamptz, now())
where job_id = $1::uuid
  and claim_epoch = $2::bigint
  and status = 'active'
returning job_id, status, command, priority
`,
};
