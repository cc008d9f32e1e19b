// Records effects as begun where their claim is the lease's, and says what was on record before. Run rows are locked by then, and
// leases change only under that lock, so what is read here is what the insert meets.

import type { Statement } from "../../db/sql.ts";

export const beginEffects: Statement = {
  name: "pawl_begin_effects",
  text: `
with said as (
  select s.*, l.run_id is not null as held
  from unnest($1::uuid[], $2::text[], $3::integer[], $4::bigint[], $5::uuid[], $6::text[], $7::text[])
    with ordinality as s (run_id, node_id, iteration, epoch, executor_id, name, class, arrival)
  left join leases l on l.run_id = s.run_id and l.node_id = s.node_id and l.iteration = s.iteration and l.epoch = s.epoch and l.executor_id = s.executor_id
),
begun as (
  insert into effects (run_id, node_id, iteration, name, class, begun_epoch)
  select run_id, node_id, iteration, name, class, epoch
  from said
  where held
  on conflict do nothing
)
select
  s.held,
  e.run_id is null or e.begun_epoch = s.epoch as is_new,
  e.committed_epoch is not null as is_committed,
  case when s.held then e.result::text end as result
from said s
left join effects e on e.run_id = s.run_id and e.node_id = s.node_id and e.iteration = s.iteration and e.name = s.name
order by s.arrival
`,
};
