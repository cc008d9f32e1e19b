// A claim lives for so long from now on; 0 ms lets it go.

import type { Statement } from "../../db/sql.ts";

export const extendWorkflowJob: Statement = {
  name: "pawl_extend_workflow_job",
  text: `
update workflow_jobs
set visible_until = coalesce($4::timestamptz, now()) + $3::float8 * interval '1 millisecond', is_let_go = $3::float8 = 0
where job_id = $1::uuid
  and claim_epoch = $2::bigint
  and status = 'active'
returning visible_until
`,
};
