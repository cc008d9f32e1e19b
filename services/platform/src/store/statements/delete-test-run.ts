// Removes a finished test run; anything else is left alone and gives no row.

import type { Statement } from "../../db/sql.ts";

export const deleteTestRun: Statement = {
  name: "pawl_delete_test_run",
  text: `
delete from runs
where run_id = $1::uuid
  and kind = 'test'
  and ended_at is not null
returning definition_id
`,
};
