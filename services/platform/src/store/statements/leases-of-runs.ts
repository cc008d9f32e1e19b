// Every lease of these runs.

import type { Statement } from "../../db/sql.ts";

export const leasesOfRuns: Statement = {
  name: "pawl_leases_of_runs",
  text: `
select run_id, node_id, iteration, epoch, executor_id
from leases
where run_id = any ($1::uuid[])
`,
};
