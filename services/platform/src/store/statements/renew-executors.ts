// Keeps executors alive, each only if the session still speaks for it, and says which sessions do. Callers pass executors in order of id, so that two
// schedulers that renew the same ones take the row locks in one order.

import type { Statement } from "../../db/sql.ts";

export const renewExecutors: Statement = {
  name: "pawl_renew_executors",
  text: `
update executors e
set alive_until = now() + $3::double precision * interval '1 millisecond'
from unnest($1::uuid[], $2::uuid[]) as s (executor_id, session_id)
where e.executor_id = s.executor_id
  and e.session_id = s.session_id
returning e.session_id
`,
};
