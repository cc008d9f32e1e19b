// One version of a workflow, 0 for the newest. A deleted workflow has no row in `workflows` and is not found, although its
// versions stay for the runs that used them.

import type { Statement } from "../../db/sql.ts";

// A caller may ask for any version a uint32 can say, which an integer cannot.
export const readWorkflow: Statement = {
  name: "pawl_read_workflow",
  text: `
select w.workflow_id, d.version, d.definition_id, d.digest, d.title, d.node_count, d.body, w.created_at, d.created_at as updated_at
from workflows w
join definitions d
  on d.tenant_id = w.tenant_id
  and d.workflow_id = w.workflow_id
  and d.version = case when $3::bigint = 0 then w.version else $3::bigint end
where w.tenant_id = $1::text
  and w.workflow_id = $2::text
`,
};
