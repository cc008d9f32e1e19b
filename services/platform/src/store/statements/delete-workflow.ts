// Removes a workflow's name; its definitions stay for the runs that use them.

import type { Statement } from "../../db/sql.ts";

export const deleteWorkflow: Statement = {
  name: "pawl_delete_workflow",
  text: `
delete from workflows
where tenant_id = $1::text
  and workflow_id = $2::text
`,
};
