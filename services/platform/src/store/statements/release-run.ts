// Takes a run out of quarantine. Its snapshot goes: whatever was wrong may be in it.

import type { Statement } from "../../db/sql.ts";

export const releaseRun: Statement = {
  name: "pawl_release_run",
  text: `
with marked as (
  update runs
  set
    version = version + 1,
    quarantined_at = null,
    quarantine_reason = null,
    quarantine_detail = null
  where run_id = $1::uuid
    and quarantined_at is not null
  returning run_id
), dropped as (
  delete from run_snapshots
  where run_id = (select run_id from marked)
)
select run_id
from marked
`,
};
