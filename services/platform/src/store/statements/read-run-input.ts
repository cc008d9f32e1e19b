// What a run was started with: the value of the first event of its log.

import type { Statement } from "../../db/sql.ts";

export const readRunInput: Statement = {
  name: "pawl_read_run_input",
  text: `
select value::text as input
from run_events
where run_id = $1::uuid
  and seq = 1
`,
};
