// How many executors are alive: what an operator asks of a scheduler that is ready.

import type { Statement } from "../../db/sql.ts";

export const countAliveExecutors: Statement = {
  name: "pawl_count_alive_executors",
  text: `
select count(*)::integer as alive
from executors
where alive_until > now()
`,
};
