// Runs by the request ids they were started with.

import type { Statement } from "../../db/sql.ts";

export const findRequests: Statement = {
  name: "pawl_find_requests",
  text: `
select request_id, request_hash, run_id
from runs
where tenant_id = $1::text
  and request_id = any ($2::text[])
`,
};
