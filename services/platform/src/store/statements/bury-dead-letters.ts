// Node executions that are given up, beside the events that say so; tenant and workflow are their run's.

import type { Statement } from "../../db/sql.ts";

export const buryDeadLetters: Statement = {
  name: "pawl_bury_dead_letters",
  text: `
insert into dead_letters (
  dead_letter_id, tenant_id, run_id, workflow_id, node_id, iteration, attempt, node_type, deliveries, executor_id, reason, error_message
)
select
  d.dead_letter_id, r.tenant_id, d.run_id, r.workflow_id, d.node_id, d.iteration, d.attempt, d.node_type, d.deliveries, d.executor_id,
  d.reason, d.error_message
from unnest(
  $1::uuid[], $2::uuid[], $3::text[], $4::integer[], $5::integer[], $6::text[], $7::integer[], $8::uuid[], $9::text[], $10::text[]
) as d (dead_letter_id, run_id, node_id, iteration, attempt, node_type, deliveries, executor_id, reason, error_message)
join runs r on r.run_id = d.run_id
`,
};
