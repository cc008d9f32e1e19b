// Names a definition as the current one of a new workflow.

import type { Statement } from "../../db/sql.ts";

export const insertWorkflow: Statement = {
  name: "pawl_insert_workflow",
  text: `
insert into workflows (tenant_id, workflow_id, version, definition_id)
values ($1::text, $2::text, $3::integer, $4::uuid)
`,
};
