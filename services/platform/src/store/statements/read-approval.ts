// One approval.

import type { Statement } from "../../db/sql.ts";

export const readApproval: Statement = {
  name: "pawl_read_approval",
  text: `
select approval_id, run_id, workflow_id, node_id, iteration, reason, message, details::text as details, assignees, state, opened_at,
  deadline_at, closed_at, decided_by, comment, response::text as response
from approvals
where approval_id = $2::uuid
  and tenant_id = $1
`,
};
