-- What a tick decided about runs, in one statement for runs that exist and one for new ones. Only the scheduler sends these.

-- part: ending
-- Of a row that is inserted into run_events: a terminal event as a JSON array, null for any other. It is made of the inserted row,
-- so it has the real seq, the time of the transaction and the JSON as a read gives it. wake/listen.ts reads it.
case
    when type in ('run.completed', 'run.failed', 'run.cancelled', 'run.timed_out') then
      json_build_array(
        run_id, seq, type, node_id, iteration, attempt, epoch, payload, value::text,
        floor(date_part('epoch', at) * 1000 + 0.0005)
      )::text
  end

-- part: announce_ends
-- Sends short terminal events whole. Gateways read longer ones: every gateway gets every one of these.
(
    select count(pg_notify('pawl_ends', a.ending))
    from appended a
    where octet_length(a.ending) <= 1000
  )

-- part: same_pauses
-- Fails the statement unless the pauses are those that the tick decided on; below zero means that it does not matter
-- (store/pauses/writes.ts).
pawl_require(
    :pause_epoch::bigint < 0 or :pause_epoch::bigint = (select p.epoch from pause_epoch p where p.is_only), 'PW002'
  )

-- part: notify_readers
case when :wake::text <> '' then pg_notify('pawl_runs', :wake::text) end

-- name: move_runs
-- Everything that happens to live runs in a tick: compare-and-swap, events, leases closed and opened, notification. It fails with
-- PW001 unless every run is at the version that the tick planned on. One statement instead of seven, since each answer is a packet
-- that wakes the scheduler: a hop of a lone run went from 2.07 to 1.68 ms, and a chain of many runs gained 9 %. Events and leases
-- name their run by its place in the arrays of runs, so that the seqs come from an array instead of a join. Callers pass runs in
-- order of id. Row locks are mostly taken in that order; where a plan takes them in another, the lock timeout ends a deadlock, and
-- the tick runs again. Events and leases wait for `heads`, which waits for all runs. `opened` waits for `closed`: a claim that is
-- taken back and given away at once has the same key.
with moved as (
  update runs r
  set
    version = r.version + 1,
    last_seq = r.last_seq + c.event_count,
    status = c.status,
    has_failures = c.has_failures,
    error_message = c.error_message,
    ended_at = case when c.ended then now() end
  from unnest(
    :run_id::uuid[], :expected_version::bigint[], :event_count::integer[], :status::text[], :has_failures::boolean[],
    :error_message::text[], :ended::boolean[]
  ) with ordinality as c (run_id, version, event_count, status, has_failures, error_message, ended, place)
  where r.run_id = c.run_id
    and r.version = c.version
  returning c.place, r.last_seq
),
heads as materialized (
  select
    coalesce(array_agg(last_seq order by place), '{}') as seqs,
    pawl_require(count(*) = cardinality(:run_id::uuid[]), 'PW001') as held
  from moved
),
appended as (
  insert into run_events (run_id, seq, type, node_id, iteration, attempt, epoch, ordinal, payload, value)
  select
    (:run_id::uuid[])[e.place], h.seqs[e.place] - e.back, e.type, e.node_id, e.iteration, e.attempt,
    case when e.epoch < 0 then h.seqs[e.place] - e.back else e.epoch end, 0, e.payload, e.value
  from heads h,
    unnest(
      :event_place::integer[], :event_back::integer[], :event_type::text[], :event_node_id::text[], :event_iteration::integer[],
      :event_attempt::integer[], :event_epoch::bigint[],
      :event_payload::jsonb[], :event_value::json[]
    ) as e (place, back, type, node_id, iteration, attempt, epoch, payload, value)
  returning {ending} as ending
),
closed as (
  delete from leases l
  using unnest(:closed_run_id::uuid[], :closed_node_id::text[], :closed_iteration::integer[]) as c (run_id, node_id, iteration)
  where l.run_id = c.run_id
    and l.node_id = c.node_id
    and l.iteration = c.iteration
    and (select held from heads)
  returning 1
),
opened as (
  insert into leases (run_id, node_id, iteration, epoch, attempt, executor_id, deadline_at)
  select
    (:run_id::uuid[])[o.place], o.node_id, o.iteration, h.seqs[o.place] - o.back, o.attempt, o.executor_id,
    now() + o.limit_ms * interval '1 millisecond'
  from heads h,
    unnest(
      :opened_place::integer[], :opened_node_id::text[], :opened_iteration::integer[], :opened_back::integer[],
      :opened_attempt::integer[], :opened_executor_id::uuid[], :opened_limit_ms::double precision[]
    ) as o (place, node_id, iteration, back, attempt, executor_id, limit_ms)
  where (select count(*) from closed) >= 0
)
select
  h.seqs::double precision[] as seqs,
  h.held,
  {same_pauses} as same_pauses,
  {announce_ends} as ends,
  {notify_readers} as notified
from heads h

-- name: create_runs
-- New runs at version 1 with their first events and leases. A request id that was used before violates run_requests_pkey, and with it
-- the whole transaction. It fails with PW003 where a run assumed its definition to be the newest of its workflow, and it is not.
-- The caller knows the seqs of a new run.
with inserted as (
  insert into runs (
    run_id, tenant_id, definition_id, workflow_id, workflow_version, kind, status, version, last_seq,
    has_failures, priority, error_message, request_id, traceparent, deadline_at, ended_at,
    parent_run_id, parent_node_id, parent_iteration, schedule_id, schedule_at
  )
  select
    n.run_id, n.tenant_id, n.definition_id, n.workflow_id, n.workflow_version, n.kind, n.status, 1, n.event_count,
    n.has_failures, n.priority, n.error_message, n.request_id, n.traceparent,
    to_timestamp(n.deadline_at / 1000.0), case when n.ended then now() end,
    n.parent_run_id, n.parent_node_id, n.parent_iteration, n.schedule_id, to_timestamp(n.schedule_at / 1000.0)
  from unnest(
    :run_id::uuid[], :tenant_id::text[], :definition_id::uuid[], :workflow_id::text[], :workflow_version::integer[],
    :kind::text[], :status::text[], :event_count::integer[],
    :has_failures::boolean[], :priority::integer[], :error_message::text[], :request_id::text[], :traceparent::text[],
    :deadline_at::double precision[], :ended::boolean[],
    :assumes_newest::boolean[], :parent_run_id::uuid[], :parent_node_id::text[], :parent_iteration::integer[],
    :schedule_id::text[], :schedule_at::double precision[]
  ) as n (
    run_id, tenant_id, definition_id, workflow_id, workflow_version, kind, status, event_count,
    has_failures, priority, error_message, request_id, traceparent, deadline_at, ended,
    assumes_newest, parent_run_id, parent_node_id, parent_iteration, schedule_id, schedule_at
  )
  left join workflows w
    on n.assumes_newest
    and w.tenant_id = n.tenant_id
    and w.workflow_id = n.workflow_id
    and w.definition_id = n.definition_id
  where not n.assumes_newest
    or w.definition_id is not null
  returning 1
),
requested as (
  insert into run_requests (tenant_id, request_id, request_hash, run_id)
  select n.tenant_id, n.request_id, n.request_hash, n.run_id
  from unnest(:tenant_id::text[], :request_id::text[], :request_hash::text[], :run_id::uuid[])
    as n (tenant_id, request_id, request_hash, run_id)
  where n.request_id is not null
  order by n.tenant_id, n.request_id
),
appended as (
  insert into run_events (run_id, seq, type, node_id, iteration, attempt, epoch, ordinal, payload, value)
  select e.run_id, e.seq, e.type, e.node_id, e.iteration, e.attempt, e.epoch, 0, e.payload, e.value
  from unnest(
    :event_run_id::uuid[], :event_seq::bigint[], :event_type::text[], :event_node_id::text[], :event_iteration::integer[],
    :event_attempt::integer[], :event_epoch::bigint[],
    :event_payload::jsonb[], :event_value::json[]
  ) as e (run_id, seq, type, node_id, iteration, attempt, epoch, payload, value)
  returning {ending} as ending
),
opened as (
  insert into leases (run_id, node_id, iteration, epoch, attempt, executor_id, deadline_at)
  select o.run_id, o.node_id, o.iteration, o.epoch, o.attempt, o.executor_id, now() + o.limit_ms * interval '1 millisecond'
  from unnest(
    :opened_run_id::uuid[], :opened_node_id::text[], :opened_iteration::integer[], :opened_epoch::bigint[],
    :opened_attempt::integer[], :opened_executor_id::uuid[], :opened_limit_ms::double precision[]
  ) as o (run_id, node_id, iteration, epoch, attempt, executor_id, limit_ms)
)
select
  pawl_require((select count(*) from inserted) = cardinality(:run_id::uuid[]), 'PW003') as held,
  {same_pauses} as same_pauses,
  {announce_ends} as ends,
  {notify_readers} as notified

-- name: lock_runs
-- Locks run rows in order of id, so that the statements after it see what the last writer committed.
select run_id
from runs
where run_id = any (:run_ids::uuid[])
order by run_id
for update

-- name: notify_readers
-- One notification per tick: NOTIFY takes a lock of the whole database at commit.
select pg_notify('pawl_runs', :wake::text) as notified

-- name: notify_schedulers
-- Other schedulers may have capacity for the jobs that this one queued.
select pg_notify('pawl_jobs', :jobs::text) as notified
