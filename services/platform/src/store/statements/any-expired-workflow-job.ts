// Whether a claimed command has run out of time: one probe of an index, for those who ask again and again.

import type { Statement } from "../../db/sql.ts";

export const anyExpiredWorkflowJob: Statement = {
  name: "pawl_any_expired_workflow_job",
  text: `
select 1
from workflow_jobs
where status = 'active'
  and visible_until <= coalesce($1::timestamptz, now())
limit 1
`,
};
