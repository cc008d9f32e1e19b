// A lease per claim; its epoch is the seq of the node.started appended in the same transaction.

import type { Statement } from "../../db/sql.ts";

export const openLeases: Statement = {
  name: "pawl_open_leases",
  text: `
insert into leases (run_id, node_id, iteration, epoch, attempt, executor_id)
select l.run_id, l.node_id, l.iteration, r.last_seq - l.back, l.attempt, l.executor_id
from unnest(
  $1::uuid[], $2::text[], $3::integer[], $4::integer[], $5::integer[], $6::uuid[]
) as l (run_id, node_id, iteration, back, attempt, executor_id)
join runs r on r.run_id = l.run_id
`,
};
