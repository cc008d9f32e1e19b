// The folded events of many runs, each after its own cursor and up to the seq its row had: a row and its log are one picture.
// Times come as milliseconds: reading them as text took the driver a quarter of the time of a long log. The half microsecond puts right
// what the double is short of.

import type { Statement } from "../../db/sql.ts";

export const loadEvents: Statement = {
  name: "pawl_load_events",
  text: `
select e.run_id, e.seq, e.type, e.node_id, e.iteration, e.attempt, e.epoch, e.payload, e.value::text as value,
  floor(date_part('epoch', e.at) * 1000 + 0.0005) as at
from unnest($1::uuid[], $2::bigint[], $3::bigint[]) as c (run_id, after_seq, last_seq)
join run_events e on e.run_id = c.run_id and e.seq > c.after_seq and e.seq <= c.last_seq
where e.type not in ('node.stream.delta', 'node.log')
order by e.run_id, e.seq
`,
};
