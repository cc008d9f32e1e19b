// Open dead letters by node type, up to a bound.

import type { Statement } from "../../db/sql.ts";

export const countDeadLetters: Statement = {
  name: "pawl_count_dead_letters",
  text: `
select node_type, count(*)::integer as count
from (
  select node_type
  from dead_letters
  where tenant_id = $1::text
    and state = 'open'
  limit 100000
) open
group by node_type
`,
};
