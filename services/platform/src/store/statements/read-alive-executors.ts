// Executors that are alive, with how many leases each holds, and the database's own clock. A look for people, not for decisions.

import type { Statement } from "../../db/sql.ts";

export const readAliveExecutors: Statement = {
  name: "pawl_read_alive_executors",
  text: `
select
  e.executor_id, e.node_types, e.slots,
  (select count(*)::integer from leases l where l.executor_id = e.executor_id) as held_count
from executors e
where e.alive_until > now()
order by e.executor_id
limit $1::integer
`,
};
