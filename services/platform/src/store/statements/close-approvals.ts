// How open approvals end, beside the events that say so. One that is closed already stays as it is.

import type { Statement } from "../../db/sql.ts";

export const closeApprovals: Statement = {
  name: "pawl_close_approvals",
  text: `
update approvals a
set state = c.state, closed_at = now(), decided_by = c.decided_by, comment = c.comment, response = c.response
from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::json[]) as c (approval_id, state, decided_by, comment, response)
where a.approval_id = any ($1)
  and a.approval_id = c.approval_id
  and a.closed_at is null
`,
};
