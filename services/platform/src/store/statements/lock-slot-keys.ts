// Locks keys in the order given, makes those that are missing, and takes over the limits that were said (0 says none).

import type { Statement } from "../../db/sql.ts";

export const lockSlotKeys: Statement = {
  name: "pawl_lock_slot_keys",
  text: `
insert into slot_keys as k (slot_key, slot_limit)
select n.slot_key, n.slot_limit
from unnest($1::text[], $2::integer[]) with ordinality as n (slot_key, slot_limit, place)
order by n.place
on conflict (slot_key) do update
set slot_limit = case when excluded.slot_limit > 0 then excluded.slot_limit else k.slot_limit end
`,
};
