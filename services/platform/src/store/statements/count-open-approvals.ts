// Node executions that wait for a person, up to a bound.

import type { Statement } from "../../db/sql.ts";

export const countOpenApprovals: Statement = {
  name: "pawl_count_open_approvals",
  text: `
select count(*)::integer as count
from (
  select 1
  from approvals
  where tenant_id = $1::text
    and state = 'open'
  limit 100000
) open
`,
};
