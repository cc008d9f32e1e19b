// A page of dead letters in one of these states (none means all), newest first.

import type { Statement } from "../../db/sql.ts";

export const readDeadLetters: Statement = {
  name: "pawl_read_dead_letters",
  text: `
select dead_letter_id, run_id, workflow_id, node_id, iteration, attempt, node_type, deliveries, executor_id, reason, error_message, died_at,
  state, redrive_run_id, closed_at
from dead_letters
where tenant_id = $1::text
  and (cardinality($8::text[]) = 0 or state = any ($8))
  and (cardinality($4::uuid[]) = 0 or dead_letter_id = any ($4))
  and ($5::text = '' or workflow_id = $5)
  and ($6::text = '' or node_type = $6)
  and ($7::double precision is null or died_at < to_timestamp($7 / 1000))
  and dead_letter_id < $2::uuid
order by dead_letter_id desc
limit $3::integer
`,
};
