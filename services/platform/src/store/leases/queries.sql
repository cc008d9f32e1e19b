-- Executors and the leases they hold. Every time is the database's own, so all schedulers agree on which executors are alive.

-- part: lease
run_id, node_id, iteration, epoch, executor_id

-- name: register
-- Registers an executor, or registers it again over a new connection. The newest session of its process represents it. Another process gets
-- no row while the present one is alive and connected. Race: two processes register at once, at two schedulers. The row lock makes them
-- take turns, and the second sees the first.
insert into executors (
  executor_id, session_id, node_types, slots, description, alive_until, instance_id, scheduler_id, connected_at,
  process_name, language, sdk, build, webhook_slots
)
values (
  :executor_id::uuid, :session_id::uuid, :node_types::text[], :slots::integer, :description::text,
  now() + :lease_ms::double precision * interval '1 millisecond', :instance_id::uuid, :scheduler_id::uuid, now(),
  :process_name::text, :language::text, :sdk::text, :build::text, :webhook_slots::integer
)
on conflict (executor_id) do update
set
  instance_id = excluded.instance_id,
  session_id = excluded.session_id,
  node_types = excluded.node_types,
  slots = excluded.slots,
  description = excluded.description,
  alive_until = excluded.alive_until,
  scheduler_id = excluded.scheduler_id,
  connected_at = excluded.connected_at,
  process_name = excluded.process_name,
  language = excluded.language,
  sdk = excluded.sdk,
  build = excluded.build,
  webhook_slots = excluded.webhook_slots,
  silent_since = null,
  give_up_at = null,
  left_at = null
where executors.instance_id is not distinct from excluded.instance_id
  or executors.alive_until <= now()
  or executors.left_at is not null
returning executor_id

-- name: renew
-- Keeps executors alive if the session represents them. Returns the sessions that do. Callers pass executors in order of id, so two
-- schedulers that renew the same ones rarely wait for each other.
update executors e
set
  alive_until = now() + :lease_ms::double precision * interval '1 millisecond',
  slots = coalesce(s.slots, e.slots),
  silent_since = case when s.silent_ms > 0 then now() - s.silent_ms * interval '1 millisecond' end,
  give_up_at = case when s.give_up_ms > 0 then now() + s.give_up_ms * interval '1 millisecond' end
from unnest(
  :executor_id::uuid[], :session_id::uuid[], :slots::integer[], :silent_ms::double precision[], :give_up_ms::double precision[]
) as s (executor_id, session_id, slots, silent_ms, give_up_ms)
where e.executor_id = s.executor_id
  and e.session_id = s.session_id
returning e.session_id

-- name: expire
-- Shortens an executor's life and never lengthens it. Only the session that represents the executor may do so.
update executors
set
  alive_until = least(alive_until, now() + :grace_ms::double precision * interval '1 millisecond'),
  left_at = now()
where executor_id = :executor_id::uuid
  and session_id = :session_id::uuid

-- name: count_alive
-- How many executors are alive.
select count(*)::integer as alive
from executors
where alive_until > now()

-- name: forget_dead
-- Deletes executors that have been dead for long and hold no lease.
delete from executors
where executor_id in (
  select e.executor_id
  from executors e
  where e.alive_until <= now() - :older_than_ms::double precision * interval '1 millisecond'
    and not exists (
      select 1
      from leases l
      where l.executor_id = e.executor_id
    )
  limit :limit::integer
)

-- name: alive
-- Executors that are alive, and how many leases each holds. For people, not for decisions.
select
  e.executor_id, e.node_types, e.slots, e.description, e.process_name, e.language, e.sdk, e.build,
  e.scheduler_id, e.connected_at, e.left_at is not null as has_left,
  coalesce(extract(epoch from now() - e.silent_since)::double precision * 1000, 0) as silent_ms,
  coalesce(greatest(extract(epoch from e.give_up_at - now())::double precision * 1000, 0), 0) as give_up_ms,
  (select count(*)::integer from leases l where l.executor_id = e.executor_id) as held_count
from executors e
where e.alive_until > now()
order by e.executor_id
limit :limit::integer

-- name: served_by_others
-- The types among these that another executor serves. An executor whose connection ended serves none.
select distinct t.node_type
from executors e
cross join unnest(e.node_types) as t (node_type)
where e.executor_id <> :executor_id::uuid
  and e.alive_until > now()
  and e.left_at is null
  and t.node_type = any (:node_types::text[])

-- name: expired
-- Leases whose executor is no longer alive or known, and that have no extension of their own. Also leases past their node's timeout whose
-- executor is alive. These come with the limit.
select l.run_id, l.node_id, l.iteration, l.epoch, l.executor_id, e.left_at is not null as has_left,
  case
    when e.alive_until > now() or l.extended_until > now()
    then extract(epoch from l.deadline_at - l.leased_at)::double precision * 1000
  end as limit_ms
from leases l
left join executors e on e.executor_id = l.executor_id
where ((e.executor_id is null or e.alive_until <= now()) and (l.extended_until is null or l.extended_until <= now()))
  or l.deadline_at <= now()
order by l.run_id, l.node_id, l.iteration
limit :limit::integer

-- name: of_executor
-- The leases that one executor should hold. Young leases are left out, because their assignment may be under way.
select {lease}
from leases
where executor_id = :executor_id::uuid
  and leased_at <= now() - :older_than_ms::double precision * interval '1 millisecond'
limit :limit::integer

-- name: of_runs
-- Every lease of these runs.
select {lease}
from leases
where run_id = any (:run_ids::uuid[])

-- name: of_run_until
-- The leases of one run, and when each ends unless its executor renews it.
select l.node_id, l.iteration, l.epoch, l.executor_id,
  greatest(e.alive_until, l.extended_until) as until_at
from leases l
left join executors e on e.executor_id = l.executor_id
where l.run_id = :run_id::uuid
limit :limit::integer

-- name: count
-- Claimed node executions by definition and node. The items of a map or loop count separately from the node itself.
select r.definition_id, l.node_id, least(l.iteration, 1) as iteration, count(*)::integer as count
from leases l
join runs r on r.run_id = l.run_id
where r.tenant_id = :tenant_id::text
group by r.definition_id, l.node_id, least(l.iteration, 1)

-- name: extend
-- Gives single leases more time than their executor's renewals do, if the claim is that of the lease. The last report of a claim counts.
-- The run rows are locked by then, and leases change only under that lock.
with reported as (
  select s.*, l.run_id is not null as held
  from unnest(
    :run_id::uuid[], :node_id::text[], :iteration::integer[], :epoch::bigint[], :executor_id::uuid[], :extend_ms::double precision[]
  ) with ordinality as s (run_id, node_id, iteration, epoch, executor_id, extend_ms, arrival)
  left join leases l
    on l.run_id = s.run_id
    and l.node_id = s.node_id
    and l.iteration = s.iteration
    and l.epoch = s.epoch
    and l.executor_id = s.executor_id
),
extended as (
  update leases l
  set extended_until = now() + f.extend_ms * interval '1 millisecond'
  from (
    select distinct on (run_id, node_id, iteration) *
    from reported
    where held
    order by run_id, node_id, iteration, arrival desc
  ) f
  where l.run_id = f.run_id
    and l.node_id = f.node_id
    and l.iteration = f.iteration
)
select held
from reported
order by arrival
