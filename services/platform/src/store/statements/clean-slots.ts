// Forgets cooled slots of some keys, which the caller has locked.

import type { Statement } from "../../db/sql.ts";

export const cleanSlots: Statement = {
  name: "pawl_clean_slots",
  text: `
delete from slots s
where s.slot_key = any ($1::text[])
  and s.state <> 'waiting'
  and s.free_at <= now()
`,
};
