// The dead letters of a test run that is deleted.

import type { Statement } from "../../db/sql.ts";

export const deleteTestDeadLetters: Statement = {
  name: "pawl_delete_test_dead_letters",
  text: `
delete from dead_letters
where run_id = $1::uuid
`,
};
