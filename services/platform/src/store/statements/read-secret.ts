// A key that all processes share.

import type { Statement } from "../../db/sql.ts";

export const readSecretRow: Statement = {
  name: "pawl_read_secret",
  text: `
select value
from secrets
where name = $1::text
`,
};
