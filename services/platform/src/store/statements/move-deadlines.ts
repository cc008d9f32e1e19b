// New deadlines of runs that go on after they waited; their rows are locked by the advance before it.

import type { Statement } from "../../db/sql.ts";

export const moveDeadlines: Statement = {
  name: "pawl_move_deadlines",
  text: `
update runs r
set deadline_at = to_timestamp(m.deadline_at / 1000.0)
from unnest($1::uuid[], $2::double precision[]) as m (run_id, deadline_at)
where r.run_id = m.run_id
`,
};
