// Live runs whose deadline has passed, oldest first; the partial index holds live runs only.

import type { Statement } from "../../db/sql.ts";

export const overdueRuns: Statement = {
  name: "pawl_overdue_runs",
  text: `
select run_id
from runs
where ended_at is null
  and deadline_at < now()
order by deadline_at
limit $1::integer
`,
};
