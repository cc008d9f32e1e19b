// A workflow goes, and its pause with it: another one of its name is not to find itself held.

import type { Statement } from "../../db/sql.ts";

export const dropWorkflowPause: Statement = {
  name: "pawl_drop_workflow_pause",
  text: `
delete from pauses
where scope = 'workflow'
  and tenant_id = $1::text
  and name = $2::text
`,
};
