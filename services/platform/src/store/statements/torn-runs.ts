// Which of these runs have events behind their last seq. A transition writes both in one transaction, so only somebody else's row
// stands there, and it refuses every further event of its run.

import type { Statement } from "../../db/sql.ts";

export const tornRuns: Statement = {
  name: "pawl_torn_runs",
  text: `
select r.run_id, e.seq
from runs r,
  lateral (
    select seq
    from run_events
    where run_id = r.run_id
      and seq > r.last_seq
    order by seq
    limit 1
  ) e
where r.run_id = any ($1::uuid[])
`,
};
