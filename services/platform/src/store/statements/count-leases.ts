// Node executions that are claimed, by definition and node; those of a map or loop apart from the node itself.

import type { Statement } from "../../db/sql.ts";

export const countLeases: Statement = {
  name: "pawl_count_leases",
  text: `
select r.definition_id, l.node_id, least(l.iteration, 1) as iteration, count(*)::integer as count
from leases l
join runs r on r.run_id = l.run_id
where r.tenant_id = $1::text
group by r.definition_id, l.node_id, least(l.iteration, 1)
`,
};
