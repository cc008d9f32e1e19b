// Live runs whose deadline has passed, oldest first. The partial index holds live runs only, and none whose deadline is not looked
// at while they wait or are paused.

import type { Statement } from "../../db/sql.ts";

export const overdueRuns: Statement = {
  name: "pawl_overdue_runs",
  text: `
select run_id
from runs
where ended_at is null
  and status not in ('waiting', 'paused')
  and quarantined_at is null
  and deadline_at < now()
order by deadline_at
limit $1::integer
`,
};
