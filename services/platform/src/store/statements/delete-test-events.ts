// Removes the log of a test run: the only deletion the log knows besides retention.

import type { Statement } from "../../db/sql.ts";

export const deleteTestEvents: Statement = {
  name: "pawl_delete_test_events",
  text: `
delete from run_events
where run_id = $1::uuid
`,
};
