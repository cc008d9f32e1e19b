// Open dead letters that are dealt with: redriven as a run, or discarded where there is none. One that is closed stays as it is.

import type { Statement } from "../../db/sql.ts";

export const closeDeadLetters: Statement = {
  name: "pawl_close_dead_letters",
  text: `
update dead_letters
set state = case when $3::uuid is null then 'discarded' else 'redriven' end, redrive_run_id = $3, closed_at = now(),
  closed_request_id = $4::text
where tenant_id = $1::text
  and dead_letter_id = any ($2::uuid[])
  and state = 'open'
returning dead_letter_id
`,
};
