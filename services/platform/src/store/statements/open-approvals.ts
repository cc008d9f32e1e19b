// Questions that wait for a person from now on, beside the events that say so; tenant and workflow are their run's.

import type { Statement } from "../../db/sql.ts";

export const openApprovals: Statement = {
  name: "pawl_open_approvals",
  text: `
insert into approvals (
  approval_id, tenant_id, run_id, workflow_id, node_id, iteration, reason, message, details, assignees, deadline_at
)
select
  a.approval_id, r.tenant_id, a.run_id, r.workflow_id, a.node_id, a.iteration, a.reason, a.message, a.details,
  array(select jsonb_array_elements_text(a.assignees)), now() + a.deadline_ms * interval '1 millisecond'
from unnest(
  $1::uuid[], $2::uuid[], $3::text[], $4::integer[], $5::text[], $6::text[], $7::json[], $8::jsonb[], $9::double precision[]
) as a (approval_id, run_id, node_id, iteration, reason, message, details, assignees, deadline_ms)
join runs r on r.run_id = a.run_id
`,
};
