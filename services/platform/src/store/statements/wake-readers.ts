// One hint per tick: NOTIFY takes a database-wide lock at commit.

import type { Statement } from "../../db/sql.ts";

export const wakeReaders: Statement = {
  name: "pawl_wake_readers",
  text: `
select pg_notify('pawl_runs', $1::text)
`,
};
