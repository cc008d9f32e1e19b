// Where a command stands that was claimed at least once.

import type { Statement } from "../../db/sql.ts";

export const readWorkflowJob: Statement = {
  name: "pawl_read_workflow_job",
  text: `
select status, attempts, claim_epoch, worker_id, visible_until, error, command, priority
from workflow_jobs
where job_id = $1::uuid
`,
};
