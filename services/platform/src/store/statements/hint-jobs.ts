// Tells other schedulers that jobs were queued; they may have room where this one has none.

import type { Statement } from "../../db/sql.ts";

export const hintJobs: Statement = {
  name: "pawl_hint_jobs",
  text: `
select pg_notify('pawl_jobs', $1::text)
`,
};
