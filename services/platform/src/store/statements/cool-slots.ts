// Executions were started: their slots of rates are taken for one window from now. The clock and not the transaction's begin, so
// that a window is never counted from before the start.

import type { Statement } from "../../db/sql.ts";

export const coolSlots: Statement = {
  name: "pawl_cool_slots",
  text: `
update slots s
set state = 'cooling',
  free_at = clock_timestamp() + make_interval(secs => c.per_ms / 1000.0)
from unnest($1::uuid[], $2::text[], $3::integer[], $4::text[], $5::bigint[]) as c (run_id, node_id, iteration, slot_key, per_ms)
where s.run_id = c.run_id
  and s.node_id = c.node_id
  and s.iteration = c.iteration
  and s.slot_key = c.slot_key
  and s.state = 'held'
`,
};
