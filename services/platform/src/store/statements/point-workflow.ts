// Names another definition as the current one of a workflow; the caller holds its row lock.

import type { Statement } from "../../db/sql.ts";

export const pointWorkflow: Statement = {
  name: "pawl_point_workflow",
  text: `
update workflows
set
  version = $3::integer,
  definition_id = $4::uuid,
  updated_at = now()
where tenant_id = $1::text
  and workflow_id = $2::text
`,
};
