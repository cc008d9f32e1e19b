// A page of a run's tags after a cursor, of one node where named. The view reads the log by its primary key.

import type { Statement } from "../../db/sql.ts";

export const readTags: Statement = {
  name: "pawl_read_tags",
  text: `
select run_id, node_id, iteration, seq, tag, metadata::text as metadata, at
from execution_tags
where run_id = $1::uuid
  and seq > $2::bigint
  and ($4::text = '' or node_id = $4::text)
order by seq
limit $3::integer
`,
};
