// Keeps one snapshot a run, the furthest. One that its log does not reach, or of a run that is over or set aside, is not taken.

import type { Statement } from "../../db/sql.ts";

export const saveSnapshot: Statement = {
  name: "pawl_save_snapshot",
  text: `
insert into run_snapshots (run_id, seq, format, digest, body)
select run_id, $2::bigint, $3::integer, $4::bigint, $5::text
from runs
where run_id = $1::uuid
  and ended_at is null
  and quarantined_at is null
  and last_seq >= $2::bigint
on conflict (run_id) do update
set
  seq = excluded.seq,
  format = excluded.format,
  digest = excluded.digest,
  body = excluded.body,
  written_at = now()
where run_snapshots.seq < excluded.seq
  or run_snapshots.format <> excluded.format
`,
};
