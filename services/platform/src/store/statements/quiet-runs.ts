// A page of a walk over the live runs that are at work, which runs_deadline holds, and which of them had no event for a while: one probe of the log a
// run. The limit bounds what is looked at, not what is found.

import type { Statement } from "../../db/sql.ts";

export const quietRuns: Statement = {
  name: "pawl_quiet_runs",
  text: `
select
  r.run_id,
  r.deadline_at::text as deadline,
  not exists (
    select 1
    from run_events e
    where e.run_id = r.run_id
      and e.seq = r.last_seq
      and e.at > now() - $4::double precision * interval '1 millisecond'
  ) and r.quarantined_at is null as is_quiet
from (
  select run_id, deadline_at, last_seq, quarantined_at
  from runs
  where ended_at is null
    and status not in ('waiting', 'paused')
    and deadline_at >= $1::timestamptz
    and (deadline_at, run_id) > ($1::timestamptz, $2::uuid)
  order by deadline_at, run_id
  limit $3::integer
) r
order by r.deadline_at, r.run_id
`,
};
