// A command waits for a person: nobody is given it again, and no delivery is counted.

import type { Statement } from "../../db/sql.ts";

export const releaseWorkflowJob: Statement = {
  name: "pawl_release_workflow_job",
  text: `
update workflow_jobs
set status = 'paused', changed_at = coalesce($3::timestamptz, now())
where job_id = $1::uuid
  and claim_epoch = $2::bigint
  and status = 'active'
returning status
`,
};
