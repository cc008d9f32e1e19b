// The definition a request id was used for.

import type { Statement } from "../../db/sql.ts";

export const definitionByRequest: Statement = {
  name: "pawl_definition_by_request",
  text: `
select definition_id, workflow_id, coalesce(version, 0) as version, digest, title, node_count, body, created_at, request_hash
from definitions
where tenant_id = $1::text
  and request_id = $2::text
limit 1
`,
};
