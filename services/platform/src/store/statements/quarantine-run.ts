// Sets a live run aside. The new version fails the compare-and-swap of whoever still plans on the old one, here or elsewhere; its
// claims end with it, so that no sweep finds them and no executor is heard under them. Its slots go on to whoever waits for them, by
// the next scheduler that looks at the queues.

import type { Statement } from "../../db/sql.ts";

export const quarantineRun: Statement = {
  name: "pawl_quarantine_run",
  text: `
with marked as (
  update runs
  set
    version = version + 1,
    quarantined_at = now(),
    quarantine_reason = $2::text,
    quarantine_detail = $3::text
  where run_id = $1::uuid
    and ended_at is null
    and quarantined_at is null
  returning run_id
), ended as (
  delete from leases
  where run_id = (select run_id from marked)
), freed as (
  delete from slots
  where run_id = (select run_id from marked)
    and state <> 'cooling'
  returning slot_key
), woken as (
  update slot_keys
  set wake_at = now()
  where slot_key = any (array(select slot_key from freed))
)
select run_id
from marked
`,
};
