// Commands that are claimed, paused or given up. Those that wait are pg-boss's to count.

import type { Statement } from "../../db/sql.ts";

export const countWorkflowJobs: Statement = {
  name: "pawl_count_workflow_jobs",
  text: `
select status, count(*)::integer as count
from workflow_jobs
where status in ('active', 'paused', 'dead_letter')
group by status
`,
};
