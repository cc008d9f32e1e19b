// Forgets keys, which the caller has locked, that nobody holds or waits for. One probe a key and kind; an anti-join would walk all slots.

import type { Statement } from "../../db/sql.ts";

export const dropSlotKeys: Statement = {
  name: "pawl_drop_slot_keys",
  text: `
delete from slot_keys k
where k.slot_key = any ($1::text[])
  and (select 1 from slots s where s.slot_key = k.slot_key and s.state = 'waiting' limit 1) is null
  and (select 1 from slots s where s.slot_key = k.slot_key and s.state <> 'waiting' limit 1) is null
`,
};
