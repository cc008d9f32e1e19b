// Gives what is free of some keys, which the caller has locked, to those who wait: by priority, then in order. The work is bounded
// by the limits of the keys, never by how many wait.

import type { Statement } from "../../db/sql.ts";

export const grantSlots: Statement = {
  name: "pawl_grant_slots",
  text: `
with room as (
  select k.slot_key,
    greatest(0, k.slot_limit - (
      select count(*)
      from slots t
      where t.slot_key = k.slot_key
        and t.state <> 'waiting'
        and (t.free_at is null or t.free_at > now())
    )) as free
  from slot_keys k
  where k.slot_key = any ($1::text[])
), chosen as (
  select w.slot_id
  from room r
  cross join lateral (
    select s.slot_id
    from slots s
    where s.slot_key = r.slot_key
      and s.state = 'waiting'
    order by s.priority, s.slot_id
    limit r.free
  ) w
), granted as (
  update slots s
  set state = 'held'
  from chosen c
  where s.slot_id = c.slot_id
  returning s.*
)
select g.run_id, g.node_id, g.iteration, g.attempt, g.node_type, g.priority, g.share, g.next_key, g.next_limit, g.next_per_ms
from granted g
order by g.priority, g.slot_id
`,
};
