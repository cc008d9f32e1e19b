// Appends the partial output that count-streamed made room for, in the order given.

import type { Statement } from "../../db/sql.ts";

export const appendStreamed: Statement = {
  name: "pawl_append_streamed",
  text: `
insert into run_events (run_id, seq, type, node_id, iteration, attempt, epoch, ordinal, payload)
select
  v.run_id, r.last_seq - v.fact_count + v.place, v.type, v.node_id, v.iteration, v.attempt, v.epoch, v.ordinal, v.payload
from (
  select
    s.*,
    l.attempt,
    row_number() over (partition by s.run_id order by s.arrival) as place,
    count(*) over (partition by s.run_id) as fact_count
  from unnest($1::uuid[], $2::text[], $3::integer[], $4::bigint[], $5::uuid[], $6::text[], $7::integer[], $8::jsonb[])
    with ordinality as s (run_id, node_id, iteration, epoch, executor_id, type, ordinal, payload, arrival)
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
) v
join runs r on r.run_id = v.run_id
`,
};
