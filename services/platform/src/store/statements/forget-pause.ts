// Every run of the workflow has followed: what was resuming is over. Left alone where it has been changed since.

import type { Statement } from "../../db/sql.ts";

export const forgetPause: Statement = {
  name: "pawl_forget_pause",
  text: `
delete from pauses
where scope = 'workflow'
  and tenant_id = $1::text
  and name = $2::text
  and epoch = $3::bigint
  and state = 'resuming'
`,
};
