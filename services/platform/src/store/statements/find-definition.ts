// One version of a workflow that exists; version 0 is the newest.

import type { Statement } from "../../db/sql.ts";

export const findDefinition: Statement = {
  name: "pawl_find_definition",
  text: `
select d.definition_id, d.workflow_id, d.version, d.digest, d.title, d.node_count, d.body, d.created_at
from workflows w
join definitions d
  on d.tenant_id = w.tenant_id
  and d.workflow_id = w.workflow_id
  and d.version = case when $3::integer = 0 then w.version else $3::integer end
where w.tenant_id = $1::text
  and w.workflow_id = $2::text
limit 1
`,
};
