// Which of these runs have a row that another session holds. It waits for nobody: rows that are locked are passed over, and what
// was passed over is the answer.

import type { Statement } from "../../db/sql.ts";

export const lockedRuns: Statement = {
  name: "pawl_locked_runs",
  text: `
with free as materialized (
  select run_id
  from runs
  where run_id = any ($1::uuid[])
  for no key update skip locked
)
select r.run_id
from runs r
where r.run_id = any ($1::uuid[])
  and r.run_id <> all (array(select run_id from free))
`,
};
