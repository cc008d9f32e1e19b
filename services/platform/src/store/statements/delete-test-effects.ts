// Removes the effect ledger of a test run, with the run itself.

import type { Statement } from "../../db/sql.ts";

export const deleteTestEffects: Statement = {
  name: "pawl_delete_test_effects",
  text: `
delete from effects
where run_id = $1::uuid
`,
};
