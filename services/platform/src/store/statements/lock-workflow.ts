// Locks a workflow, so that its versions are given out one at a time. Its definition is read by another statement: joined
// here, one that waited for the lock would look for the new definition in its old snapshot and find nothing.

import type { Statement } from "../../db/sql.ts";

export const lockWorkflow: Statement = {
  name: "pawl_lock_workflow",
  text: `
select definition_id
from workflows
where tenant_id = $1::text
  and workflow_id = $2::text
limit 1
for update
`,
};
