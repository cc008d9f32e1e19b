// Lets a queue go.

import type { Statement } from "../../db/sql.ts";

export const resumeQueue: Statement = {
  name: "pawl_resume_queue",
  text: `
delete from pauses
where scope = 'queue'
  and tenant_id = $1::text
  and name = $2::text
returning scope, tenant_id, name, state, epoch, paused_by, reason, since, resumed_by, resume_reason
`,
};
