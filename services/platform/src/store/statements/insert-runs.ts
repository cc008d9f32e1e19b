// Creates runs at version 1. A request id used before violates runs_request, and with it the whole transaction.

import type { Statement } from "../../db/sql.ts";

export const insertRuns: Statement = {
  name: "pawl_insert_runs",
  text: `
insert into runs (
  run_id, tenant_id, definition_id, workflow_id, workflow_version, kind, status, version, last_seq,
  has_failures, priority, error_message, request_id, request_hash, traceparent, deadline_at, ended_at
)
select
  n.run_id, n.tenant_id, n.definition_id, n.workflow_id, n.workflow_version, n.kind, n.status, 1, n.event_count,
  n.has_failures, n.priority, n.error_message, n.request_id, n.request_hash, n.traceparent,
  to_timestamp(n.deadline_at / 1000.0), case when n.ended then now() end
from unnest(
  $1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::integer[], $6::text[], $7::text[], $8::integer[],
  $9::boolean[], $10::integer[], $11::text[], $12::text[], $13::text[], $14::text[], $15::double precision[], $16::boolean[]
) as n (
  run_id, tenant_id, definition_id, workflow_id, workflow_version, kind, status, event_count,
  has_failures, priority, error_message, request_id, request_hash, traceparent, deadline_at, ended
)
`,
};
