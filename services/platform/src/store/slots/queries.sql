-- Slots of concurrency keys and rates. The tick changes them; slots.ts has the order of the locks.

-- part: holder
unnest(:run_id::uuid[], :node_id::text[], :iteration::integer[])

-- name: lock_keys
-- Locks keys in the order given, creates missing ones, and sets their limits. 0 keeps a limit.
insert into slot_keys as k (slot_key, slot_limit)
select n.slot_key, n.slot_limit
from unnest(:key::text[], :limit::integer[]) with ordinality as n (slot_key, slot_limit, place)
order by n.place
on conflict (slot_key) do update
set slot_limit = case when excluded.slot_limit > 0 then excluded.slot_limit else k.slot_limit end

-- name: lock_due_keys
-- Keys of rates with a slot that has become free, locked in order. It skips keys that another scheduler has locked, because that scheduler
-- grants their slots now.
select slot_key
from slot_keys
where slot_key in (
  select d.slot_key
  from slot_keys d
  where d.wake_at <= now()
  order by d.wake_at
  limit :limit::integer
)
order by slot_key
for update skip locked

-- name: release
-- Deletes the slots that executions hold or wait for. A cooling slot belongs to its rate and stays.
delete from slots s
using {holder} as c (run_id, node_id, iteration)
where s.run_id = c.run_id
  and s.node_id = c.node_id
  and s.iteration = c.iteration
  and s.state <> 'cooling'

-- name: cool
-- Starts the cooling of the rate slots of executions that have started, for one window from now. It uses the clock and not the begin of the
-- transaction, so a window never begins before the start.
update slots s
set state = 'cooling',
  free_at = clock_timestamp() + make_interval(secs => c.per_ms / 1000.0)
from unnest(:run_id::uuid[], :node_id::text[], :iteration::integer[], :key::text[], :per_ms::bigint[])
  as c (run_id, node_id, iteration, slot_key, per_ms)
where s.run_id = c.run_id
  and s.node_id = c.node_id
  and s.iteration = c.iteration
  and s.slot_key = c.slot_key
  and s.state = 'held'

-- name: request
-- Inserts requests for slots, in the order in which they came.
insert into slots (
  slot_key, run_id, node_id, iteration, state, attempt, node_type, priority, share, next_key, next_limit, next_per_ms
)
select n.slot_key, n.run_id, n.node_id, n.iteration, 'waiting', n.attempt, n.node_type, n.priority, n.share,
  n.next_key, n.next_limit, n.next_per_ms
from unnest(
  :key::text[], :run_id::uuid[], :node_id::text[], :iteration::integer[], :attempt::integer[], :node_type::text[],
  :priority::integer[], :share::text[], :next_key::text[], :next_limit::integer[], :next_per_ms::bigint[]
) with ordinality as n (
  slot_key, run_id, node_id, iteration, attempt, node_type, priority, share, next_key, next_limit, next_per_ms, place
)
order by n.place

-- name: grant
-- Grants the free slots of keys, which the caller has locked, to waiting executions: by priority, then in order. The limits of the keys
-- bound the work, not the number of waiting executions.
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
  where k.slot_key = any (:keys::text[])
), chosen as (
  select w.run_id, w.slot_id
  from room r
  cross join lateral (
    select s.run_id, s.slot_id
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
  where s.run_id = c.run_id
    and s.slot_id = c.slot_id
  returning s.*
)
select g.run_id, g.node_id, g.iteration, g.attempt, g.node_type, g.priority, g.share, g.next_key, g.next_limit, g.next_per_ms
from granted g
order by g.priority, g.slot_id

-- name: clean
-- Deletes cooled slots of keys, which the caller has locked.
delete from slots s
where s.slot_key = any (:keys::text[])
  and s.state <> 'waiting'
  and s.free_at <= now()

-- name: arm_keys
-- Sets for keys of rates, which the caller has locked, when to look again. If executions wait, it is the time when the first slot becomes
-- free. If not, it is the time when the last slot has cooled and the key can be deleted. Returns the first time of all.
with armed as (
  update slot_keys k
  set wake_at = case
    when (select 1 from slots s where s.slot_key = k.slot_key and s.state = 'waiting' limit 1) is not null
      then (select min(s.free_at) from slots s where s.slot_key = k.slot_key and s.state <> 'waiting' and s.free_at > now())
    else (select max(s.free_at) from slots s where s.slot_key = k.slot_key and s.state <> 'waiting' and s.free_at > now())
  end
  where k.slot_key = any (:keys::text[])
  returning k.wake_at
)
select extract(epoch from (min(a.wake_at) - now()))::float8 * 1000 as wake_in_ms
from armed a

-- name: drop_keys
-- Deletes keys, which the caller has locked, without slots and requests. One probe per key and kind. An anti-join would walk all slots.
delete from slot_keys k
where k.slot_key = any (:keys::text[])
  and (select 1 from slots s where s.slot_key = k.slot_key and s.state = 'waiting' limit 1) is null
  and (select 1 from slots s where s.slot_key = k.slot_key and s.state <> 'waiting' limit 1) is null

-- name: waits
-- The executions among these that wait for a slot. For each: the limit of the key, its holders, how many wait before, and when its slot
-- becomes free. Every part stops at a bound. Explanations use it.
select q.place, k.slot_limit as limit, taken.count as taken_count, ahead.count as ahead_count, free.free_at,
  (
    select coalesce(json_agg(json_build_object('runId', h.run_id, 'nodeId', h.node_id, 'iteration', h.iteration)), '[]')
    from (
      select t.run_id, t.node_id, t.iteration
      from slots t
      where t.slot_key = q.slot_key
        and t.state <> 'waiting'
        and (t.free_at is null or t.free_at > now())
      order by t.free_at, t.slot_id
      limit :holders_max::integer
    ) h
  ) as holders
from unnest(:node_id::text[], :iteration::integer[], :key::text[]) with ordinality as q (node_id, iteration, slot_key, place)
cross join lateral (
  select s.priority, s.slot_id
  from slots s
  where s.run_id = :run_id::uuid
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
    limit :counted_max::integer
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
    limit :counted_max::integer
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

-- name: count_waiting
-- Node executions that wait for a slot, by node type, up to a bound. They have no job until they get the slot.
select node_type, count(*)::integer as count
from (
  select node_type
  from slots
  where state = 'waiting'
    and node_id <> ''
  limit 100000
) waiting
group by node_type

-- name: waiting
-- Which of these executions wait for a slot. One probe of slots_execution per execution. An `exists` would walk all slots.
select n.place
from {holder} with ordinality as n (run_id, node_id, iteration, place)
where (
  select bool_or(s.state = 'waiting')
  from slots s
  where s.run_id = n.run_id
    and s.node_id = n.node_id
    and s.iteration = n.iteration
    and s.state <> 'cooling'
)
