// An executor says hello, or says it again over a new connection: the newest session speaks for it.

import type { Statement } from "../../db/sql.ts";

export const registerExecutor: Statement = {
  name: "pawl_register_executor",
  text: `
insert into executors (executor_id, session_id, node_types, slots, description, alive_until)
values (
  $1::uuid, $2::uuid, $3::text[], $4::integer, $5::text,
  now() + $6::double precision * interval '1 millisecond'
)
on conflict (executor_id) do update
set
  session_id = excluded.session_id,
  node_types = excluded.node_types,
  slots = excluded.slots,
  description = excluded.description,
  alive_until = excluded.alive_until,
  left_at = null
`,
};
