// The compare-and-swap of a whole batch. It fails the transaction by itself (division by zero) unless every run was at the
// version it was planned on, so nothing waits for its answer. Callers pass runs in order of id, and the nested loop that the
// connection's pinned plans force locks them in that order.

import type { Statement } from "../../db/sql.ts";

export const advanceRuns: Statement = {
  name: "pawl_advance_runs",
  text: `
with moved as (
  update runs r
  set
    version = r.version + 1,
    last_seq = r.last_seq + c.event_count,
    status = c.status,
    has_failures = c.has_failures,
    error_message = c.error_message,
    ended_at = case when c.ended then now() end
  from unnest(
    $1::uuid[], $2::bigint[], $3::integer[], $4::text[], $5::boolean[], $6::text[], $7::boolean[]
  ) as c (run_id, version, event_count, status, has_failures, error_message, ended)
  where r.run_id = c.run_id
    and r.version = c.version
  returning r.run_id, r.last_seq
)
select m.run_id, m.last_seq, guard.held
from (
  select 1 / (case when (select count(*) from moved) = cardinality($1::uuid[]) then 1 else 0 end) as held
) guard
left join moved m on true
`,
};
