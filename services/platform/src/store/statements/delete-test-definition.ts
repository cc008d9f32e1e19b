// Removes the graph of a test run.

import type { Statement } from "../../db/sql.ts";

export const deleteTestDefinition: Statement = {
  name: "pawl_delete_test_definition",
  text: `
delete from definitions
where definition_id = $1::uuid
  and workflow_id is null
`,
};
