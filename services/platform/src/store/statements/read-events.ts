// A page of one log after a cursor, at most `$3` events and about `$4` bytes of the users' JSON (always at least one event),
// so that a page of large outputs cannot fill the reader's memory. One index range on the primary key.

import type { Statement } from "../../db/sql.ts";

export const readEventPage: Statement = {
  name: "pawl_read_event_page",
  text: `
select run_id, seq, type, node_id, iteration, attempt, epoch, payload, value, at
from (
  select page.*, coalesce(sum(octet_length(page.value)) over (order by page.seq rows between unbounded preceding and 1 preceding), 0) as bytes_before
  from (
    select run_id, seq, type, node_id, iteration, attempt, epoch, payload, value::text as value, at
    from run_events
    where run_id = $1::uuid
      and seq > $2::bigint
    order by seq
    limit $3::integer
  ) page
) sized
where bytes_before < $4::bigint
order by seq
`,
};
