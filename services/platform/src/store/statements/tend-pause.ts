// Says that somebody works on it. No row where it has been changed since.

import type { Statement } from "../../db/sql.ts";

export const tendPause: Statement = {
  name: "pawl_tend_pause",
  text: `
update pauses
set tended_at = now()
where scope = 'workflow'
  and tenant_id = $1::text
  and name = $2::text
  and epoch = $3::bigint
returning 1
`,
};
