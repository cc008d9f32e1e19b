// Keys of rates at which a slot has become free, locked in order. Keys that somebody else has locked are being looked at.

import type { Statement } from "../../db/sql.ts";

export const lockDueKeys: Statement = {
  name: "pawl_lock_due_keys",
  text: `
select slot_key
from slot_keys
where slot_key in (
  select d.slot_key
  from slot_keys d
  where d.wake_at <= now()
  order by d.wake_at
  limit $1::integer
)
order by slot_key
for update skip locked
`,
};
