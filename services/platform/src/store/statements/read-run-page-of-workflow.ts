// Runs of one workflow, newest first, before a run id. Walks runs_by_workflow; `$4` and `$5` empty mean no filter.

import type { Statement } from "../../db/sql.ts";

export const readRunPageOfWorkflow: Statement = {
  name: "pawl_read_run_page_of_workflow",
  text: `
select run_id, definition_id, workflow_id, workflow_version, kind, status, last_seq, has_failures, priority,
  error_message, traceparent, created_at, ended_at, deadline_at, parent_run_id, parent_node_id, parent_iteration,
  quarantined_at, quarantine_reason, quarantine_detail,
  schedule_id, schedule_at
from runs
where tenant_id = $1::text
  and workflow_id = $6::text
  and run_id < $2::uuid
  and (cardinality($4::text[]) = 0 or status = any ($4::text[]))
  and ($5::text = '' or kind = $5::text)
order by run_id desc
limit $3::integer
`,
};
