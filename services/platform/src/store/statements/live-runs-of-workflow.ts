// Runs of a workflow that have not ended, up to a bound: enough to say how many there are. Two small partial indexes hold all of
// them: those whose deadline counts, and those that wait or are paused.

import type { Statement } from "../../db/sql.ts";

export const liveRunsOfWorkflow: Statement = {
  name: "pawl_live_runs_of_workflow",
  text: `
(
  select run_id
  from runs
  where tenant_id = $1::text
    and workflow_id = $2::text
    and ended_at is null
    and status not in ('waiting', 'paused')
)
union all
(
  select run_id
  from runs
  where tenant_id = $1::text
    and workflow_id = $2::text
    and ended_at is null
    and status in ('waiting', 'paused')
)
limit 1000
`,
};
