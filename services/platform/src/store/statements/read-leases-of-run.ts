// The leases of one run and how long each lasts unless it is renewed.

import type { Statement } from "../../db/sql.ts";

export const readLeasesOfRun: Statement = {
  name: "pawl_read_leases_of_run",
  text: `
select l.node_id, l.iteration, l.epoch, l.executor_id,
  greatest(e.alive_until, l.extended_until) as until
from leases l
left join executors e on e.executor_id = l.executor_id
where l.run_id = $1::uuid
limit $2::integer
`,
};
