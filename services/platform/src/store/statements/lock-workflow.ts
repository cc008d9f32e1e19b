// Locks a workflow, so that its versions are given out one at a time, and gives its current definition.

import type { Statement } from "../../db/sql.ts";

export const lockWorkflow: Statement = {
  name: "pawl_lock_workflow",
  text: `
select d.definition_id, d.workflow_id, d.version, d.digest, d.title, d.node_count, d.body, d.created_at
from workflows w
join definitions d on d.definition_id = w.definition_id
where w.tenant_id = $1::text
  and w.workflow_id = $2::text
limit 1
for update of w
`,
};
