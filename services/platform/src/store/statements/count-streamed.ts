// Makes room in the log for partial output whose claim is still the lease's, leaving out what is there already, and says of each
// whether its claim holds. Run rows are locked by then, and leases change only under that lock, so append-streamed counts the
// same rows. The input is unnested twice: one CTE for both would hide its size from the planner, which then reads whole indexes.

import type { Statement } from "../../db/sql.ts";

export const countStreamed: Statement = {
  name: "pawl_count_streamed",
  text: `
with counted as (
  update runs r
  set last_seq = r.last_seq + v.fact_count
  from (
    select s.run_id, count(*) as fact_count
    from unnest($1::uuid[], $2::text[], $3::integer[], $4::bigint[], $5::uuid[], $6::text[], $7::integer[]) as s (run_id, node_id, iteration, epoch, executor_id, type, ordinal)
    join leases l on l.run_id = s.run_id and l.node_id = s.node_id and l.iteration = s.iteration and l.epoch = s.epoch and l.executor_id = s.executor_id
    where not exists (
      select 1
      from run_events e
      where e.run_id = s.run_id
        and e.epoch = s.epoch
        and e.type = s.type
        and e.ordinal = s.ordinal
        and e.type in ('node.stream.delta', 'node.log')
    )
    group by s.run_id
  ) v
  where r.run_id = v.run_id
)
select l.run_id is not null as held
from unnest($1::uuid[], $2::text[], $3::integer[], $4::bigint[], $5::uuid[]) with ordinality as s (run_id, node_id, iteration, epoch, executor_id, arrival)
left join leases l on l.run_id = s.run_id and l.node_id = s.node_id and l.iteration = s.iteration and l.epoch = s.epoch and l.executor_id = s.executor_id
order by s.arrival
`,
};
