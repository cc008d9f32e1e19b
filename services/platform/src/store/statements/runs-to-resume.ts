// Paused runs of a workflow in order of id, whoever holds them: a page of a walk. A small partial index holds all of them.

import type { Statement } from "../../db/sql.ts";

export const runsToResume: Statement = {
  name: "pawl_runs_to_resume",
  text: `
select run_id
from runs
where tenant_id = $1::text
  and workflow_id = $2::text
  and ended_at is null
  and status in ('waiting', 'paused')
  and status = 'paused'
  and quarantined_at is null
  and run_id > $3::uuid
order by run_id
limit $4::integer
`,
};
