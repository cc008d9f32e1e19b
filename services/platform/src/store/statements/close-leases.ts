// Ends leases by key; the caller's compare-and-swap has fenced the decision.

import type { Statement } from "../../db/sql.ts";

export const closeLeases: Statement = {
  name: "pawl_close_leases",
  text: `
delete from leases l
using unnest($1::uuid[], $2::text[], $3::integer[]) as c (run_id, node_id, iteration)
where l.run_id = c.run_id
  and l.node_id = c.node_id
  and l.iteration = c.iteration
`,
};
