// The events of a run that have a tag, after a cursor, and of one node where the caller names it. Outputs may be large and few tags
// show a value, so the statement reads the value only for the types of `$6`.

import type { Statement } from "../../db/sql.ts";

export const readTags: Statement = {
  name: "pawl_read_tags",
  text: `
select run_id, seq, type, node_id, iteration, attempt, epoch, payload,
  case when type = any ($6::text[]) then value::text end as value, at
from run_events
where run_id = $1::uuid
  and seq > $2::bigint
  and ($4::text = '' or node_id = $4::text)
  and type = any ($5::text[])
order by seq
limit $3::integer
`,
};
