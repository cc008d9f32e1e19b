// Executions that want a slot, in the order in which they came.

import type { Statement } from "../../db/sql.ts";

export const requestSlots: Statement = {
  name: "pawl_request_slots",
  text: `
insert into slots (
  slot_key, run_id, node_id, iteration, state, attempt, node_type, priority, share, next_key, next_limit, next_per_ms
)
select n.slot_key, n.run_id, n.node_id, n.iteration, 'waiting', n.attempt, n.node_type, n.priority, n.share,
  n.next_key, n.next_limit, n.next_per_ms
from unnest(
  $1::text[], $2::uuid[], $3::text[], $4::integer[], $5::integer[], $6::text[], $7::integer[], $8::text[],
  $9::text[], $10::integer[], $11::bigint[]
) with ordinality as n (
  slot_key, run_id, node_id, iteration, attempt, node_type, priority, share, next_key, next_limit, next_per_ms, place
)
order by n.place
`,
};
