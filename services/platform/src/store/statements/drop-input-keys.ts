// Forgets keys whose time is over, so that their inputs may be started again. Sent before keys are kept, by whoever keeps some.

import type { Statement } from "../../db/sql.ts";

export const dropInputKeys: Statement = {
  name: "pawl_drop_input_keys",
  text: `
delete from input_keys
where expires_at <= now()
`,
};
