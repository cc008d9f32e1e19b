// Open dead letters, oldest first, with what says whether their runs can be started again. Those that cannot come last, so that
// they never fill the limit of a redrive.

import type { Statement } from "../../db/sql.ts";

export const readOpenDeadLetters: Statement = {
  name: "pawl_read_open_dead_letters",
  text: `
select d.dead_letter_id, d.run_id, d.workflow_id, d.node_id, d.iteration, d.attempt, d.node_type, d.deliveries, d.executor_id, d.reason,
  d.error_message, d.died_at, d.state, d.redrive_run_id, d.closed_at, r.workflow_version, r.priority, r.ended_at is not null as has_ended,
  w.workflow_id is not null as has_workflow
from (
  select *
  from dead_letters
  where tenant_id = $1::text
    and state = 'open'
    and (cardinality($3::uuid[]) = 0 or dead_letter_id = any ($3))
    and ($4::text = '' or workflow_id = $4)
    and ($5::text = '' or node_type = $5)
    and ($6::double precision is null or died_at < to_timestamp($6 / 1000))
  order by dead_letter_id
  limit 100000
) d
join runs r on r.run_id = d.run_id
left join workflows w on w.tenant_id = $1::text
  and w.workflow_id = d.workflow_id
order by w.workflow_id is null or r.ended_at is null, d.dead_letter_id
limit $2::integer
`,
};
