// The rows of many runs, with their snapshots where asked for. One statement: a snapshot that is ahead of its log in it is corrupt.
// The limit keeps the probe a probe: joined plainly, an empty table was walked instead.

import type { Statement } from "../../db/sql.ts";

export const loadRuns: Statement = {
  name: "pawl_load_runs",
  text: `
select
  r.run_id, r.version, r.last_seq, r.definition_id, r.workflow_id, r.priority, r.traceparent, r.ended_at is not null as has_ended,
  r.quarantined_at, r.quarantine_reason, r.quarantine_detail,
  s.seq as snapshot_seq, s.format as snapshot_format, s.digest as snapshot_digest, s.body as snapshot_body
from unnest($1::uuid[], $2::boolean[]) as c (run_id, from_snapshot)
join runs r on r.run_id = c.run_id
left join lateral (
  select seq, format, digest, body
  from run_snapshots
  where run_id = c.run_id
    and c.from_snapshot
  limit 1
) s on true
`,
};
