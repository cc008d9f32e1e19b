// The approvals of a test run that is deleted.

import type { Statement } from "../../db/sql.ts";

export const deleteTestApprovals: Statement = {
  name: "pawl_delete_test_approvals",
  text: `
delete from approvals
where run_id = $1::uuid
`,
};
