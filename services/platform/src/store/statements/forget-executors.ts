// Removes executors that have been dead for long and hold nothing.

import type { Statement } from "../../db/sql.ts";

export const forgetExecutors: Statement = {
  name: "pawl_forget_executors",
  text: `
delete from executors
where executor_id in (
  select e.executor_id
  from executors e
  where e.alive_until <= now() - $1::double precision * interval '1 millisecond'
    and not exists (
      select 1
      from leases l
      where l.executor_id = e.executor_id
    )
  limit $2::integer
)
`,
};
