// The newest versions of workflows in order of id, after an id, without their bodies.

import type { Statement } from "../../db/sql.ts";

export const readWorkflowPage: Statement = {
  name: "pawl_read_workflow_page",
  text: `
select w.workflow_id, w.version, d.definition_id, d.digest, d.title, d.node_count, null::text as body, w.created_at, w.updated_at
from workflows w
join definitions d on d.definition_id = w.definition_id
where w.tenant_id = $1::text
  and w.workflow_id > $2::text
order by w.workflow_id
limit $3::integer
`,
};
