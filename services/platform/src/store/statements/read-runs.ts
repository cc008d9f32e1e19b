// Runs by id.

import type { Statement } from "../../db/sql.ts";

export const readRuns: Statement = {
  name: "pawl_read_runs",
  text: `
select run_id, definition_id, workflow_id, workflow_version, kind, status, last_seq, has_failures, priority,
  error_message, traceparent, created_at, ended_at, deadline_at, parent_run_id, parent_node_id, parent_iteration,
  quarantined_at, quarantine_reason, quarantine_detail,
  schedule_id, schedule_at
from runs
where tenant_id = $1::text
  and run_id = any ($2::uuid[])
`,
};
