// Notes for some keys of rates, which the caller has locked, when to look again: when the first slot frees that somebody waits
// for; where nobody waits, when the last one has cooled and the key can be forgotten. Says the first of the former.

import type { Statement } from "../../db/sql.ts";

export const armSlotKeys: Statement = {
  name: "pawl_arm_slot_keys",
  text: `
with armed as (
  update slot_keys k
  set wake_at = case
    when (select 1 from slots s where s.slot_key = k.slot_key and s.state = 'waiting' limit 1) is not null
      then (select min(s.free_at) from slots s where s.slot_key = k.slot_key and s.state <> 'waiting' and s.free_at > now())
    else (select max(s.free_at) from slots s where s.slot_key = k.slot_key and s.state <> 'waiting' and s.free_at > now())
  end
  where k.slot_key = any ($1::text[])
  returning k.wake_at
)
select extract(epoch from (min(a.wake_at) - now()))::float8 * 1000 as wake_in_ms
from armed a
`,
};
