// A command is done. Also ends one that was paused for a person, under the claim that paused it.

import type { Statement } from "../../db/sql.ts";

export const ackWorkflowJob: Statement = {
  name: "pawl_ack_workflow_job",
  text: `
update workflow_jobs
set status = 'completed', changed_at = coalesce($3::timestamptz, now())
where job_id = $1::uuid
  and claim_epoch = $2::bigint
  and status in ('active', 'paused')
returning status
`,
};
