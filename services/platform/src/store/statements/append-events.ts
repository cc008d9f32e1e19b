// Appends facts behind a bumped last_seq: a fact's seq is the run's last_seq less its distance from the end. An epoch below
// zero stands for the fact's own seq, which is how a claim gets its epoch.

import type { Statement } from "../../db/sql.ts";

export const appendEvents: Statement = {
  name: "pawl_append_events",
  text: `
insert into run_events (run_id, seq, type, node_id, iteration, attempt, epoch, ordinal, payload, value)
select
  e.run_id, r.last_seq - e.back, e.type, e.node_id, e.iteration, e.attempt,
  case when e.epoch < 0 then r.last_seq - e.back else e.epoch end, 0, e.payload, e.value
from unnest(
  $1::uuid[], $2::integer[], $3::text[], $4::text[], $5::integer[], $6::integer[], $7::bigint[], $8::jsonb[], $9::jsonb[]
) as e (run_id, back, type, node_id, iteration, attempt, epoch, payload, value)
join runs r on r.run_id = e.run_id
`,
};
