// Runs by the inputs they were started with, where their callers asked for it and the time is not over.

import type { Statement } from "../../db/sql.ts";

export const findInputKeys: Statement = {
  name: "pawl_find_input_keys",
  text: `
select input_key, run_id
from input_keys
where tenant_id = $1::text
  and input_key = any ($2::text[])
  and expires_at > now()
`,
};
