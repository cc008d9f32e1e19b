// Holds a workflow or a queue, or holds it again while it was about to be let go. No row where it is held already.

import type { Statement } from "../../db/sql.ts";

export const insertPause: Statement = {
  name: "pawl_insert_pause",
  text: `
insert into pauses (scope, tenant_id, name, state, epoch, paused_by, reason)
values ($1::text, $2::text, $3::text, $4::text, $7::bigint, $5::text, $6::text)
on conflict (scope, tenant_id, name) do update
set state = excluded.state,
  epoch = excluded.epoch,
  paused_by = excluded.paused_by,
  reason = excluded.reason,
  since = now(),
  resumed_by = '',
  resume_reason = '',
  tended_at = now()
where pauses.state = 'resuming'
returning scope, tenant_id, name, state, epoch, paused_by, reason, since, resumed_by, resume_reason
`,
};
