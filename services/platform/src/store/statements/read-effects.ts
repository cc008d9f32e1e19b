// A page of a run's effects after a cursor, of one node where named, each with the attempt whose claim began it.

import type { Statement } from "../../db/sql.ts";

export const readEffects: Statement = {
  name: "pawl_read_effects",
  text: `
select f.node_id, f.iteration, f.name, f.class, f.begun_epoch, f.committed_epoch, f.begun_at, f.committed_at, s.attempt
from (
  select e.node_id, e.iteration, e.name, e.class, e.begun_epoch, e.committed_epoch, e.begun_at, e.committed_at
  from effects e
  where e.run_id = $1::uuid
    and ($2::text = '' or e.node_id = $2)
    and (e.node_id, e.iteration, e.name) > ($3::text, $4::integer, $5::text)
  order by e.node_id, e.iteration, e.name
  limit $6::integer
) f
left join lateral (
  select v.attempt
  from run_events v
  where v.run_id = $1::uuid
    and v.seq = f.begun_epoch
  limit 1
) s on true
order by f.node_id, f.iteration, f.name
`,
};
