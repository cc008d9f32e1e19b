// Everything that is paused, with the epoch that proves it: one row with the epoch alone where nothing is. Few rows, ever.

import type { Statement } from "../../db/sql.ts";

export const readPauses: Statement = {
  name: "pawl_read_pauses",
  text: `
select e.epoch as current_epoch, p.scope, p.tenant_id, p.name, p.state, p.epoch, p.paused_by, p.reason, p.since, p.resumed_by,
  p.resume_reason
from pause_epoch e
left join pauses p
  on p.scope in ('workflow', 'queue')
where e.is_only
order by p.scope, p.tenant_id, p.name
`,
};
