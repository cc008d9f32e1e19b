// A page of open approvals, newest first; the partial index holds no closed one.

import type { Statement } from "../../db/sql.ts";

export const readOpenApprovals: Statement = {
  name: "pawl_read_open_approvals",
  text: `
select approval_id, run_id, workflow_id, node_id, iteration, reason, message, details::text as details, assignees, state, opened_at,
  deadline_at, closed_at, decided_by, comment, response::text as response
from approvals
where tenant_id = $1
  and state = 'open'
  and ($4::text = '' or workflow_id = $4)
  and ($5::text = '' or assignees @> array[$5::text])
  and approval_id < $2::uuid
order by approval_id desc
limit $3::integer
`,
};
