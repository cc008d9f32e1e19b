// Live runs of a workflow that are not paused, in order of id: a page of a walk. Two small partial indexes hold all of them: those
// whose deadline counts, and those that wait or are paused.

import type { Statement } from "../../db/sql.ts";

export const runsToPause: Statement = {
  name: "pawl_runs_to_pause",
  text: `
select run_id
from (
  select run_id
  from runs
  where tenant_id = $1::text
    and workflow_id = $2::text
    and ended_at is null
    and status not in ('waiting', 'paused')
    and quarantined_at is null
    and run_id > $3::uuid
  union all
  select run_id
  from runs
  where tenant_id = $1::text
    and workflow_id = $2::text
    and ended_at is null
    and status in ('waiting', 'paused')
    and status = 'waiting'
    and quarantined_at is null
    and run_id > $3::uuid
) live
order by run_id
limit $4::integer
`,
};
