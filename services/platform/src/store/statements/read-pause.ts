// How a workflow or a queue is held, if it is.

import type { Statement } from "../../db/sql.ts";

export const readPause: Statement = {
  name: "pawl_read_pause",
  text: `
select scope, tenant_id, name, state, epoch, paused_by, reason, since, resumed_by, resume_reason
from pauses
where scope = $1::text
  and tenant_id = $2::text
  and name = $3::text
`,
};
