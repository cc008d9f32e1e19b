// Takes back the command whose claim ran out first; several may do so at once and take different ones. A delivery counts
// unless its worker let it go by itself.

import type { Statement } from "../../db/sql.ts";

export const reclaimWorkflowJob: Statement = {
  name: "pawl_reclaim_workflow_job",
  text: `
update workflow_jobs j
set attempts = j.attempts + (not j.is_let_go)::integer,
  status = case when j.attempts + (not j.is_let_go)::integer >= j.max_attempts then 'dead_letter' else 'waiting' end,
  error = case when j.is_let_go then j.error else $2::text end,
  changed_at = coalesce($1::timestamptz, now())
where j.job_id = (
  select job_id
  from workflow_jobs
  where status = 'active'
    and visible_until <= coalesce($1::timestamptz, now())
  order by visible_until, job_id
  limit 1
  for update skip locked
)
returning j.job_id, j.status, j.command, j.priority
`,
};
