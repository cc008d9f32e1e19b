// Records results of effects where their claim is the lease's; the first one counts. Run rows are locked by then.

import type { Statement } from "../../db/sql.ts";

export const commitEffects: Statement = {
  name: "pawl_commit_effects",
  text: `
with said as (
  select s.*, l.run_id is not null as held
  from unnest($1::uuid[], $2::text[], $3::integer[], $4::bigint[], $5::uuid[], $6::text[], $7::json[])
    with ordinality as s (run_id, node_id, iteration, epoch, executor_id, name, result, arrival)
  left join leases l on l.run_id = s.run_id and l.node_id = s.node_id and l.iteration = s.iteration and l.epoch = s.epoch and l.executor_id = s.executor_id
),
committed as (
  update effects e
  set committed_epoch = f.epoch, result = f.result, committed_at = now()
  from (
    select distinct on (run_id, node_id, iteration, name) *
    from said
    where held
    order by run_id, node_id, iteration, name, arrival
  ) f
  where e.run_id = f.run_id
    and e.node_id = f.node_id
    and e.iteration = f.iteration
    and e.name = f.name
    and e.committed_epoch is null
)
select s.held, e.run_id is not null as is_begun
from said s
left join effects e on e.run_id = s.run_id and e.node_id = s.node_id and e.iteration = s.iteration and e.name = s.name
order by s.arrival
`,
};
