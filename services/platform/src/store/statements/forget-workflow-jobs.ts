// Drops commands that were done long ago, and counts of runs that no command has claimed since. A count outlives every claim
// that was made under it, or an epoch would come twice. Bounded; what is left goes at the next turn.

import type { Statement } from "../../db/sql.ts";

export const forgetWorkflowJobs: Statement = {
  name: "pawl_forget_workflow_jobs",
  text: `
with forgotten as (
  delete from workflow_jobs
  where job_id = any (array(
    select job_id
    from workflow_jobs
    where status = 'completed'
      and changed_at < now() - $1::float8 * interval '1 millisecond'
    limit 1000
  ))
),
counts as (
  delete from run_claims
  where run_id = any (array(
    select c.run_id
    from run_claims c
    where c.claimed_at < now() - 2 * $1::float8 * interval '1 millisecond'
      and (select count(*) from workflow_jobs j where j.run_id = c.run_id) = 0
    limit 1000
  ))
)
select 1
`,
};
