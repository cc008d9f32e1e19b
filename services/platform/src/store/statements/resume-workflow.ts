// Lets a workflow go: from here on its runs begin as they are started, and those that it held have yet to follow.

import type { Statement } from "../../db/sql.ts";

export const resumeWorkflow: Statement = {
  name: "pawl_resume_workflow",
  text: `
update pauses
set state = 'resuming',
  epoch = $5::bigint,
  resumed_by = $3::text,
  resume_reason = $4::text,
  tended_at = now()
where scope = 'workflow'
  and tenant_id = $1::text
  and name = $2::text
  and state <> 'resuming'
returning scope, tenant_id, name, state, epoch, paused_by, reason, since, resumed_by, resume_reason
`,
};
