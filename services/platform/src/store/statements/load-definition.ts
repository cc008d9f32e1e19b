// A definition by its own id: what a run uses, whatever became of its workflow.

import type { Statement } from "../../db/sql.ts";

export const loadDefinition: Statement = {
  name: "pawl_load_definition",
  text: `
select definition_id, workflow_id, coalesce(version, 0) as version, digest, title, node_count, body, created_at
from definitions
where definition_id = $1::uuid
limit 1
`,
};
