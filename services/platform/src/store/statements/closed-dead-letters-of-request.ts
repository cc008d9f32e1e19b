// The dead letters that a request has closed so far.

import type { Statement } from "../../db/sql.ts";

export const closedDeadLettersOfRequest: Statement = {
  name: "pawl_closed_dead_letters_of_request",
  text: `
select dead_letter_id, redrive_run_id
from dead_letters
where tenant_id = $1::text
  and closed_request_id = $2::text
order by dead_letter_id
`,
};
