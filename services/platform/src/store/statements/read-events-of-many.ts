// Pages of many logs, each after its own cursor, in one statement: `slot` says which request a row answers. At most `$3` events
// a log and about `$4` bytes of the users' JSON in all; since the sum runs in order of (slot, seq), what it cuts off is
// a suffix of each page, never its middle. One index range per log.

import type { Statement } from "../../db/sql.ts";

export const readEventsOfMany: Statement = {
  name: "pawl_read_events_of_many",
  text: `
select slot, run_id, seq, type, node_id, iteration, attempt, epoch, payload, value, at
from (
  select
    cursors.slot,
    page.*,
    coalesce(sum(octet_length(page.value)) over (order by cursors.slot, page.seq rows between unbounded preceding and 1 preceding), 0) as bytes_before
  from unnest($1::uuid[], $2::bigint[]) with ordinality as cursors (run_id, after_seq, slot)
  cross join lateral (
    select e.run_id, e.seq, e.type, e.node_id, e.iteration, e.attempt, e.epoch, e.payload, e.value::text as value, e.at
    from run_events e
    where e.run_id = cursors.run_id
      and e.seq > cursors.after_seq
    order by e.seq
    limit $3::integer
  ) page
) sized
where bytes_before < $4::bigint
order by slot, seq
`,
};
