// A job whose data is no command is a dead letter at once: no delivery of it can succeed. It has no run; its own id stands there.

import type { Statement } from "../../db/sql.ts";

export const buryWorkflowJob: Statement = {
  name: "pawl_bury_workflow_job",
  text: `
insert into workflow_jobs (
  job_id, run_id, command, priority, max_attempts, status, attempts, worker_id, claim_epoch, visible_until, error, enqueued_at,
  changed_at
)
values (
  $1::uuid, $1::uuid, coalesce($2::jsonb, 'null'), $3::integer, 1, 'dead_letter', 1, $4::text, 0,
  coalesce($6::timestamptz, now()), $5::text, $7::timestamptz, coalesce($6::timestamptz, now())
)
on conflict (job_id) do nothing
`,
};
