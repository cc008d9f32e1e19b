// Workflows whose runs have yet to follow, and that nobody has worked on for a while: they are the taker's for as long. Few rows, ever.

import type { Statement } from "../../db/sql.ts";

export const takeUnsettledPauses: Statement = {
  name: "pawl_take_unsettled_pauses",
  text: `
update pauses
set tended_at = now()
where scope = 'workflow'
  and state <> 'paused'
  and tended_at < now() - $1::double precision * interval '1 millisecond'
returning scope, tenant_id, name, state, epoch, paused_by, reason, since, resumed_by, resume_reason
`,
};
