// Node executions that wait for a slot of a key, by node type, up to a bound: they have no job until they are granted it.

import type { Statement } from "../../db/sql.ts";

export const countWaitingSlots: Statement = {
  name: "pawl_count_waiting_slots",
  text: `
select node_type, count(*)::integer as count
from (
  select node_type
  from slots
  where state = 'waiting'
    and node_id <> ''
  limit 100000
) waiting
group by node_type
`,
};
