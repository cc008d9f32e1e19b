// Removes a run's snapshot.

import type { Statement } from "../../db/sql.ts";

export const dropSnapshot: Statement = {
  name: "pawl_drop_snapshot",
  text: `
delete from run_snapshots
where run_id = $1::uuid
`,
};
