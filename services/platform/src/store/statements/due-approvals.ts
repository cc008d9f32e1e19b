// Open approvals with a deadline, the soonest first: those that are due by the database's clock, and when the next one will be.

import type { Statement } from "../../db/sql.ts";

export const dueApprovals: Statement = {
  name: "pawl_due_approvals",
  text: `
select approval_id, run_id, node_id, iteration,
  extract(epoch from (deadline_at - now()))::float8 * 1000 as due_in_ms
from approvals
where state = 'open'
  and deadline_at is not null
order by deadline_at
limit $1::integer
`,
};
