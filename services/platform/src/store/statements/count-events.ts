// How many events, partial output too, each run has from a seq up to its last: what a gap behind partial output shows in. Reads the
// primary key only, no event.

import type { Statement } from "../../db/sql.ts";

export const countEvents: Statement = {
  name: "pawl_count_events",
  text: `
select c.run_id, count(e.seq)::integer as event_count
from unnest($1::uuid[], $2::bigint[], $3::bigint[]) as c (run_id, from_seq, last_seq)
join run_events e on e.run_id = c.run_id and e.seq >= c.from_seq and e.seq <= c.last_seq
group by c.run_id
`,
};
