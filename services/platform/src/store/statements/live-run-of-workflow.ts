// Any one run of a workflow that has not ended.

import type { Statement } from "../../db/sql.ts";

export const liveRunOfWorkflow: Statement = {
  name: "pawl_live_run_of_workflow",
  text: `
select run_id
from runs
where tenant_id = $1::text
  and workflow_id = $2::text
  and ended_at is null
limit 1
`,
};
