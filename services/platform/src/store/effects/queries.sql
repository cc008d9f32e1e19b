-- The effect ledger: the effects of runs on the outside world.

-- name: page
-- A page of a run's effects after a cursor, each with the attempt whose claim began it. An empty node id means all nodes.
select f.node_id, f.iteration, f.name, f.class, f.begun_epoch, f.committed_epoch, f.begun_at, f.committed_at, coalesce(s.attempt, 0) as attempt
from (
  select e.node_id, e.iteration, e.name, e.class, e.begun_epoch, e.committed_epoch, e.begun_at, e.committed_at
  from effects e
  where e.run_id = :run_id::uuid
    and (:node_id::text = '' or e.node_id = :node_id)
    and (e.node_id, e.iteration, e.name) > (:after_node::text, :after_iteration::integer, :after_name::text)
  order by e.node_id, e.iteration, e.name
  limit :limit::integer
) f
left join lateral (
  select v.attempt
  from run_events v
  where v.run_id = :run_id::uuid
    and v.seq = f.begun_epoch
  limit 1
) s on true
order by f.node_id, f.iteration, f.name

-- name: results
-- The effects of one node execution with their results.
select e.name, e.class, e.committed_epoch is not null as is_committed, e.result::text as result_json
from effects e
where e.run_id = :run_id::uuid
  and e.node_id = :node_id::text
  and e.iteration = :iteration::integer
order by e.name
limit :limit::integer

-- name: count
-- The effects of a run by execution and class: how many happened, and of how many the result is not known.
select e.node_id, e.iteration, e.class, count(e.committed_epoch)::integer as committed,
  (count(*) - count(e.committed_epoch))::integer as begun
from effects e
where e.run_id = :run_id::uuid
group by e.node_id, e.iteration, e.class
order by e.node_id, e.iteration, e.class

-- name: copy
-- Gives a run that repairs another one the effects of its nodes. No claim of the new run has the epoch 0, so each effect counts as begun before.
insert into effects (run_id, node_id, iteration, name, class, begun_epoch, committed_epoch, result, begun_at, committed_at)
select s.run_id, e.node_id, e.iteration - s.from_base + s.to_base, e.name, e.class, 0,
  case when e.committed_epoch is not null then 0 end, e.result, e.begun_at, e.committed_at
from unnest(:run_id::uuid[], :from_run_id::uuid[], :node_id::text[], :from_base::integer[], :to_base::integer[])
  as s (run_id, from_run_id, node_id, from_base, to_base)
join effects e on e.run_id = s.from_run_id and e.node_id = s.node_id and e.iteration >= s.from_base

-- part: held
-- The lease that a claim names. Run rows are locked by then, and leases change only under that lock.
l.run_id = s.run_id
    and l.node_id = s.node_id
    and l.iteration = s.iteration
    and l.epoch = s.epoch
    and l.executor_id = s.executor_id

-- part: on_record
e.run_id = s.run_id and e.node_id = s.node_id and e.iteration = s.iteration and e.name = s.name

-- name: begin
-- Records effects as begun if their claim is that of the lease, and returns the earlier records.
with reported as (
  select s.*, l.run_id is not null as held
  from unnest(
    :run_id::uuid[], :node_id::text[], :iteration::integer[], :epoch::bigint[], :executor_id::uuid[], :name::text[], :class::text[]
  ) with ordinality as s (run_id, node_id, iteration, epoch, executor_id, name, class, arrival)
  left join leases l on {held}
),
begun as (
  insert into effects (run_id, node_id, iteration, name, class, begun_epoch)
  select run_id, node_id, iteration, name, class, epoch
  from reported
  where held
  on conflict do nothing
)
select
  s.held,
  e.run_id is null or e.begun_epoch = s.epoch as is_new,
  e.committed_epoch is not null as is_committed,
  case when s.held then e.result::text end as result
from reported s
left join effects e on {on_record}
order by s.arrival

-- name: commit
-- Records results of effects if their claim is that of the lease. The first result counts.
with reported as (
  select s.*, l.run_id is not null as held
  from unnest(
    :run_id::uuid[], :node_id::text[], :iteration::integer[], :epoch::bigint[], :executor_id::uuid[], :name::text[], :result_json::json[]
  ) with ordinality as s (run_id, node_id, iteration, epoch, executor_id, name, result, arrival)
  left join leases l on {held}
),
committed as (
  update effects e
  set committed_epoch = s.epoch, result = s.result, committed_at = now()
  from (
    select distinct on (run_id, node_id, iteration, name) *
    from reported
    where held
    order by run_id, node_id, iteration, name, arrival
  ) s
  where {on_record}
    and e.committed_epoch is null
)
select s.held, e.run_id is not null as is_begun
from reported s
left join effects e on {on_record}
order by s.arrival
