// Of some executions of a run and their keys, those that wait in line: what there is of the key, who has it, who comes first, and
// when the slot frees that would be theirs. Every part stops at a bound; only the few lines that were asked about are looked at.

import type { Statement } from "../../db/sql.ts";

export const readSlotWaits: Statement = {
  name: "pawl_read_slot_waits",
  text: `
select q.place, k.slot_limit, taken.count as taken_count, ahead.count as ahead_count, free.free_at,
  (
    select json_agg(json_build_object('runId', h.run_id, 'nodeId', h.node_id, 'iteration', h.iteration))
    from (
      select t.run_id, t.node_id, t.iteration
      from slots t
      where t.slot_key = q.slot_key
        and t.state <> 'waiting'
        and (t.free_at is null or t.free_at > now())
      order by t.free_at, t.slot_id
      limit $5::integer
    ) h
  ) as holders
from unnest($2::text[], $3::integer[], $4::text[]) with ordinality as q (node_id, iteration, slot_key, place)
cross join lateral (
  select s.priority, s.slot_id
  from slots s
  where s.run_id = $1::uuid
    and s.node_id = q.node_id
    and s.iteration = q.iteration
    and s.slot_key = q.slot_key
    and s.state = 'waiting'
  limit 1
) w
join slot_keys k on k.slot_key = q.slot_key
cross join lateral (
  select count(*)::integer as count
  from (
    select 1
    from slots t
    where t.slot_key = q.slot_key
      and t.state <> 'waiting'
      and (t.free_at is null or t.free_at > now())
    limit $6::integer
  ) t
) taken
cross join lateral (
  select count(*)::integer as count
  from (
    select 1
    from slots a
    where a.slot_key = q.slot_key
      and a.state = 'waiting'
      and (a.priority, a.slot_id) < (w.priority, w.slot_id)
    limit $6::integer
  ) a
) ahead
left join lateral (
  select t.free_at
  from slots t
  where t.slot_key = q.slot_key
    and t.state <> 'waiting'
    and (t.free_at is null or t.free_at > now())
  order by t.free_at
  offset ahead.count % greatest(1, k.slot_limit)
  limit 1
) free on true
order by q.place
`,
};
