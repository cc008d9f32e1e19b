// The rows of many runs.

import type { Statement } from "../../db/sql.ts";

export const loadRuns: Statement = {
  name: "pawl_load_runs",
  text: `
select run_id, version, last_seq, definition_id, workflow_id, priority, traceparent
from runs
where run_id = any ($1::uuid[])
`,
};
