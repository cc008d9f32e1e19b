// One version of a workflow that exists; version 0 is the newest.

import type { Statement } from "../../db/sql.ts";

// A caller may ask for any version a uint32 can say, which an integer cannot.
export const findDefinition: Statement = {
  name: "pawl_find_definition",
  text: `
select d.definition_id, d.workflow_id, d.version, d.digest, d.title, d.node_count, d.body, d.created_at
from workflows w
join definitions d
  on d.tenant_id = w.tenant_id
  and d.workflow_id = w.workflow_id
  and d.version = case when $3::bigint = 0 then w.version else $3::bigint end
where w.tenant_id = $1::text
  and w.workflow_id = $2::text
limit 1
`,
};
