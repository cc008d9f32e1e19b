// An executor registers, or registers again over a new connection: the newest session of its process speaks for it. Another process
// gets no row while the one that speaks for the executor is alive and its connection stands. The row lock makes two processes that
// register at once, at two schedulers, meet here: the second one sees the first.

import type { Statement } from "../../db/sql.ts";

export const registerExecutor: Statement = {
  name: "pawl_register_executor",
  text: `
insert into executors (executor_id, session_id, node_types, slots, description, alive_until, instance_id)
values (
  $1::uuid, $2::uuid, $3::text[], $4::integer, $5::text,
  now() + $6::double precision * interval '1 millisecond', $7::uuid
)
on conflict (executor_id) do update
set
  instance_id = excluded.instance_id,
  session_id = excluded.session_id,
  node_types = excluded.node_types,
  slots = excluded.slots,
  description = excluded.description,
  alive_until = excluded.alive_until,
  left_at = null
where executors.instance_id is not distinct from excluded.instance_id
  or executors.alive_until <= now()
  or executors.left_at is not null
returning 1 as registered
`,
};
