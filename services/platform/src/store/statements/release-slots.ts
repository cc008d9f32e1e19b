// Takes executions out of the slots they hold or wait for; what cools belongs to the rate, not to them.

import type { Statement } from "../../db/sql.ts";

export const releaseSlots: Statement = {
  name: "pawl_release_slots",
  text: `
delete from slots s
using unnest($1::uuid[], $2::text[], $3::integer[]) as c (run_id, node_id, iteration)
where s.run_id = c.run_id
  and s.node_id = c.node_id
  and s.iteration = c.iteration
  and s.state <> 'cooling'
`,
};
