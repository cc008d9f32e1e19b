// Runs below some runs that have not ended. Walks runs_by_parent for these parents only.

import type { Statement } from "../../db/sql.ts";

export const liveChildren: Statement = {
  name: "pawl_live_children",
  text: `
select run_id
from runs
where parent_run_id = any ($1::uuid[])
  and ended_at is null
order by run_id
limit $2::integer
`,
};
