-- Samples of the system. Times are by the clock of the database, at the beginning of their interval.

-- part: interval
date_bin(:interval_ms::float8 * interval '1 millisecond', now(), 'epoch'::timestamptz)

-- name: due
-- Whether the present interval has no sample, and how long until the next interval.
select
  not exists (select from queue_stats s where s.node_type = '' and s.taken_at = i.began) as is_missing,
  extract(epoch from i.began - now())::float8 * 1000 + :interval_ms::float8 as next_in_ms
from (select {interval} as began) i

-- name: put
-- Keeps the sample of the present interval, if there is none.
with total as (
  insert into queue_stats (
    node_type, taken_at, slots, active, waiting, oldest_ms, median_ms, runs_pending, runs_running, pending_oldest_ms, pending_median_ms
  )
  values (
    '', {interval}, :slots::integer, :active::integer, :waiting::integer, :oldest_ms::float8, :median_ms::float8,
    :runs_pending::integer, :runs_running::integer, :pending_oldest_ms::float8, :pending_median_ms::float8
  )
  on conflict (node_type, taken_at) do nothing
  returning taken_at
), types as (
  insert into queue_stats (node_type, taken_at, slots, active, waiting, oldest_ms, median_ms)
  select n.node_type, t.taken_at, n.slots, n.active, n.waiting, n.oldest_ms, n.median_ms
  from total t
  cross join unnest(
    :node_types::text[], :type_slots::integer[], :type_active::integer[], :type_waiting::integer[], :type_oldest_ms::float8[],
    :type_median_ms::float8[]
  ) as n (node_type, slots, active, waiting, oldest_ms, median_ms)
)
select count(*)::integer as kept
from total

-- name: put_pools
-- Keeps the pools of a process for the present interval.
insert into process_stats (taken_at, process_id, service, kind, pool, size, in_use, idle)
select {interval}, :process_id::uuid, :service::text, n.kind, n.pool, n.size, n.in_use, n.idle
from unnest(:kind::text[], :pool::text[], :size::integer[], :in_use::integer[], :idle::integer[]) as n (kind, pool, size, in_use, idle)
on conflict (taken_at, process_id, pool) do nothing

-- name: forget
-- Deletes old samples, up to a bound. Returns how many rows it deleted.
with samples as (
  delete from queue_stats s
  using (
    select o.node_type, o.taken_at
    from queue_stats o
    where o.taken_at < now() - :older_than_ms::float8 * interval '1 millisecond'
    limit :limit::integer
  ) old
  where s.node_type = old.node_type
    and s.taken_at = old.taken_at
  returning 1
), pools as (
  delete from process_stats p
  using (
    select o.taken_at, o.process_id, o.pool
    from process_stats o
    where o.taken_at < now() - :older_than_ms::float8 * interval '1 millisecond'
    limit :limit::integer
  ) old
  where p.taken_at = old.taken_at
    and p.process_id = old.process_id
    and p.pool = old.pool
  returning 1
)
select greatest((select count(*) from samples), (select count(*) from pools))::integer as deleted

-- name: newest
-- The rows of the newest sample.
select s.node_type, s.taken_at, s.slots, s.active, s.waiting, s.oldest_ms, s.median_ms, coalesce(s.runs_pending, 0) as runs_pending,
  coalesce(s.runs_running, 0) as runs_running, s.pending_oldest_ms, s.pending_median_ms
from queue_stats s
where s.taken_at = (
  select n.taken_at
  from queue_stats n
  where n.node_type = ''
  order by n.taken_at desc
  limit 1
)
order by s.node_type

-- name: newest_pools
-- The newest pools of each process that reported since the sample before the newest.
select distinct on (p.service, p.process_id, p.pool) p.process_id, p.service, p.kind, p.pool, p.size, p.in_use, p.idle
from process_stats p
where p.taken_at >= (
  select min(n.taken_at)
  from (
    select s.taken_at
    from queue_stats s
    where s.node_type = ''
    order by s.taken_at desc
    limit 2
  ) n
)
order by p.service, p.process_id, p.pool, p.taken_at desc
limit :limit::integer

-- name: points
-- The samples of a time, in steps: the largest of each number.
select
  date_bin(:step_ms::float8 * interval '1 millisecond', s.taken_at, 'epoch'::timestamptz) as at,
  max(s.slots) as slots, max(s.active) as active, max(s.waiting) as waiting, max(s.oldest_ms) as oldest_ms,
  max(s.median_ms) as median_ms, max(s.runs_pending) as runs_pending, max(s.runs_running) as runs_running,
  max(s.pending_oldest_ms) as pending_oldest_ms, max(s.pending_median_ms) as pending_median_ms
from queue_stats s
where s.node_type = :node_type::text
  and s.taken_at > now() - :range_ms::float8 * interval '1 millisecond'
group by 1
order by 1

-- name: pool_points
-- The connections of all processes in the same steps. Processes report at different moments of an interval, so their sum is of an interval.
select
  date_bin(:step_ms::float8 * interval '1 millisecond', p.taken_at, 'epoch'::timestamptz) as at,
  max(p.size)::integer as connections, max(p.in_use)::integer as connections_in_use
from (
  select c.taken_at, sum(c.size) as size, sum(c.in_use) as in_use
  from process_stats c
  where c.kind = 'connections'
    and c.taken_at > now() - :range_ms::float8 * interval '1 millisecond'
  group by c.taken_at
) p
group by 1
order by 1
