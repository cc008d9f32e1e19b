// Leases whose executor is no longer alive, or no longer known, and that asked for no more time of their own.

import type { Statement } from "../../db/sql.ts";

export const expiredLeases: Statement = {
  name: "pawl_expired_leases",
  text: `
select l.run_id, l.node_id, l.iteration, l.epoch, l.executor_id, e.left_at is not null as has_left
from leases l
left join executors e on e.executor_id = l.executor_id
where (e.executor_id is null or e.alive_until <= now())
  and (l.extended_until is null or l.extended_until <= now())
order by l.run_id, l.node_id, l.iteration
limit $1::integer
`,
};
