// Every run of the workflow has followed: what was pausing is paused. Left alone where it has been changed since.

import type { Statement } from "../../db/sql.ts";

export const settlePause: Statement = {
  name: "pawl_settle_pause",
  text: `
update pauses
set state = 'paused'
where scope = 'workflow'
  and tenant_id = $1::text
  and name = $2::text
  and epoch = $3::bigint
  and state = 'pausing'
`,
};
