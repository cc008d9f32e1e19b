// Runs of a workflow that have not ended, up to a bound: enough to say how many there are.

import type { Statement } from "../../db/sql.ts";

export const liveRunsOfWorkflow: Statement = {
  name: "pawl_live_runs_of_workflow",
  text: `
select run_id
from runs
where tenant_id = $1::text
  and workflow_id = $2::text
  and ended_at is null
limit 1000
`,
};
