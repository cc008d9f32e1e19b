// Where an approval belongs, and the definition that says how it is answered.

import type { Statement } from "../../db/sql.ts";

export const findApproval: Statement = {
  name: "pawl_find_approval",
  text: `
select a.approval_id, a.run_id, a.node_id, a.iteration, a.reason, a.state, r.definition_id
from approvals a
join runs r on r.run_id = a.run_id
where a.approval_id = $1::uuid
`,
};
