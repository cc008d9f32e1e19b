// Leases whose executor is no longer alive, or no longer known, and that asked for no more time of their own; and leases that have
// lasted longer than their node's timeout allows, although their executor lives: those come with what they were allowed.

import type { Statement } from "../../db/sql.ts";

export const expiredLeases: Statement = {
  name: "pawl_expired_leases",
  text: `
select l.run_id, l.node_id, l.iteration, l.epoch, l.executor_id, e.left_at is not null as has_left,
  case
    when e.alive_until > now() or l.extended_until > now()
    then extract(epoch from l.deadline_at - l.leased_at)::double precision * 1000
  end as limit_ms
from leases l
left join executors e on e.executor_id = l.executor_id
where ((e.executor_id is null or e.alive_until <= now()) and (l.extended_until is null or l.extended_until <= now()))
  or l.deadline_at <= now()
order by l.run_id, l.node_id, l.iteration
limit $1::integer
`,
};
