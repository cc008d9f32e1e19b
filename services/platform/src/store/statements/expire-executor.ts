// Shortens an executor's life, never lengthens it, and only on behalf of the session that still speaks for it.

import type { Statement } from "../../db/sql.ts";

export const expireExecutor: Statement = {
  name: "pawl_expire_executor",
  text: `
update executors
set
  alive_until = least(alive_until, now() + $3::double precision * interval '1 millisecond'),
  left_at = now()
where executor_id = $1::uuid
  and session_id = $2::uuid
`,
};
