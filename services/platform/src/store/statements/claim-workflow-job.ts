// Claims a command for a worker under the run's next epoch. A job that somebody holds or that is over is not claimed again,
// and its run's epoch stays: then there is no row. Locks the run's count before the job; nobody takes them the other way.

import type { Statement } from "../../db/sql.ts";

export const claimWorkflowJob: Statement = {
  name: "pawl_claim_workflow_job",
  text: `
with counted as (
  insert into run_claims (run_id, epoch, claimed_at)
  select $2::uuid, 1, coalesce($7::timestamptz, now())
  where not exists (
    select 1
    from workflow_jobs j
    where j.job_id = $1::uuid
      and j.status <> 'waiting'
  )
  on conflict (run_id) do update
  set epoch = run_claims.epoch + 1, claimed_at = excluded.claimed_at
  returning epoch, claimed_at
)
insert into workflow_jobs (
  job_id, run_id, command, priority, max_attempts, status, attempts, worker_id, claim_epoch, visible_until, enqueued_at,
  changed_at
)
select
  $1::uuid, $2::uuid, $3::jsonb, $4::integer, $5::integer, 'active', 0, $6::text, c.epoch,
  c.claimed_at + $8::float8 * interval '1 millisecond', $9::timestamptz, c.claimed_at
from counted c
on conflict (job_id) do update
set status = 'active', worker_id = excluded.worker_id, claim_epoch = excluded.claim_epoch,
  visible_until = excluded.visible_until, is_let_go = false, changed_at = excluded.changed_at
where workflow_jobs.status = 'waiting'
returning attempts, claim_epoch, visible_until
`,
};
