// Locks run rows in order of id, so that the statements after it see what the last writer committed.

import type { Statement } from "../../db/sql.ts";

export const lockRuns: Statement = {
  name: "pawl_lock_runs",
  text: `
select run_id
from runs
where run_id = any ($1::uuid[])
order by run_id
for update
`,
};
