// One immutable definition by its own id.

import type { Statement } from "../../db/sql.ts";

export const readDefinition: Statement = {
  name: "pawl_read_definition",
  text: `
select definition_id, digest, body
from definitions
where definition_id = $1::uuid
`,
};
