// What one executor should be holding. Young leases are left out: their assignment may still be on its way.

import type { Statement } from "../../db/sql.ts";

export const leasesOfExecutor: Statement = {
  name: "pawl_leases_of_executor",
  text: `
select run_id, node_id, iteration, epoch, executor_id
from leases
where executor_id = $1::uuid
  and leased_at <= now() - $2::double precision * interval '1 millisecond'
limit $3::integer
`,
};
