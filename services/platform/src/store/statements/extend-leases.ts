// Gives single leases more time than their executor's renewals do, where the claim is the lease's.

import type { Statement } from "../../db/sql.ts";

export const extendLeases: Statement = {
  name: "pawl_extend_leases",
  text: `
with said as (
  select s.*, l.run_id is not null as held
  from unnest($1::uuid[], $2::text[], $3::integer[], $4::bigint[], $5::uuid[], $6::double precision[])
    with ordinality as s (run_id, node_id, iteration, epoch, executor_id, extend_ms, arrival)
  left join leases l on l.run_id = s.run_id and l.node_id = s.node_id and l.iteration = s.iteration and l.epoch = s.epoch and l.executor_id = s.executor_id
),
extended as (
  update leases l
  set extended_until = now() + f.extend_ms * interval '1 millisecond'
  from (
    select distinct on (run_id, node_id, iteration) *
    from said
    where held
    order by run_id, node_id, iteration, arrival desc
  ) f
  where l.run_id = f.run_id
    and l.node_id = f.node_id
    and l.iteration = f.iteration
)
select held
from said
order by arrival
`,
};
