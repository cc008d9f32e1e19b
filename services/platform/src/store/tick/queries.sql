-- Writes the decisions of a tick about runs: one statement for runs that exist and one for new ones. Only the scheduler sends these.
--
-- Arrays become rows in a select list (`select unnest(a), unnest(b)`), not in `from`. In `from`, PostgreSQL makes a tuplestore for each
-- array: 26 of them took a quarter of the statement for one run (0.73 ms with its commit, now 0.60). All arrays of a list have the
-- same length. `pawl_require` is called only to fail, because a call of a PL/pgSQL function costs as much as writing an event.

-- part: ending
-- Part of an insert into run_events: a terminal event as a JSON array, null for any other. It is made of the inserted row, so it has the
-- real seq, the time of the transaction and the JSON that a read gives. ends/parse-end.ts reads it.
case
    when type in ('run.completed', 'run.failed', 'run.cancelled', 'run.timed_out') then
      json_build_array(
        run_id, seq, type, node_id, iteration, attempt, epoch, payload, value::text,
        floor(date_part('epoch', at) * 1000 + 0.0005)
      )::text
  end

-- part: announce_ends
-- Sends short terminal events whole. Every gateway gets all of them, so gateways read longer ones from the log.
(
    select count(pg_notify('pawl_ends', a.ending))
    from appended a
    where octet_length(a.ending) <= 1000
  )

-- part: same_pauses
-- Fails the statement unless the pauses are those that the tick decided on. Below zero means that the pauses do not matter
-- (store/pauses/writes.ts).
case
    when :pause_epoch::bigint < 0 or :pause_epoch::bigint = (select p.epoch from pause_epoch p where p.is_only) then true
    else pawl_require(false, 'PW002')
  end

-- part: events
unnest(:event_type::text[]) as type, unnest(:event_node_id::text[]) as node_id, unnest(:event_iteration::integer[]) as iteration,
        unnest(:event_attempt::integer[]) as attempt, unnest(:event_epoch::bigint[]) as epoch, unnest(:event_payload::jsonb[]) as payload,
        unnest(:event_value::json[]) as value

-- part: leases
unnest(:opened_node_id::text[]) as node_id, unnest(:opened_iteration::integer[]) as iteration, unnest(:opened_attempt::integer[]) as attempt,
        unnest(:opened_executor_id::uuid[]) as executor_id, unnest(:opened_limit_ms::double precision[]) as limit_ms

-- part: notify_readers
case when :wake::text <> '' then pg_notify('pawl_runs', :wake::text) end

-- name: move_runs
-- Everything that happens to live runs in a tick: compare-and-swap, events, leases closed and opened, notification. It fails with PW001
-- unless every run is at the version that the tick planned on. One statement replaces seven, because each answer is a packet that wakes the
-- scheduler. A hop of a lone run went from 2.07 to 1.68 ms, and a chain of many runs gained 9 %. Events and leases name their run by its
-- place in the arrays of runs, so the seqs come from an array instead of a join. Callers pass runs in order of id. Plans mostly take row
-- locks in that order. If a plan takes them in another, the lock timeout ends a deadlock, and the tick runs again. Events and leases wait
-- for `heads`, which waits for all runs. `opened` waits for `closed`: if a claim is taken back and given away at once, both have the same
-- key.
with moved as (
  update runs r
  set
    version = r.version + 1,
    last_seq = r.last_seq + c.event_count,
    status = c.status,
    has_failures = c.has_failures,
    error_message = c.error_message,
    failure_class = c.failure_class,
    ended_at = case when c.ended then now() end
  from (
    select
      generate_subscripts(:run_id::uuid[], 1) as place, unnest(:run_id::uuid[]) as run_id, unnest(:expected_version::bigint[]) as version,
      unnest(:event_count::integer[]) as event_count, unnest(:status::text[]) as status, unnest(:has_failures::boolean[]) as has_failures,
      unnest(:error_message::text[]) as error_message, unnest(:failure_class::text[]) as failure_class, unnest(:ended::boolean[]) as ended
  ) as c
  where r.run_id = c.run_id
    and r.version = c.version
  returning c.place, r.last_seq
),
heads as materialized (
  select
    coalesce(array_agg(last_seq order by place), '{}') as seqs,
    case when count(*) = cardinality(:run_id::uuid[]) then true else pawl_require(false, 'PW001') end as held
  from moved
),
appended as (
  insert into run_events (run_id, seq, type, node_id, iteration, attempt, epoch, ordinal, payload, value)
  select
    (:run_id::uuid[])[e.place], h.seqs[e.place] - e.back, e.type, e.node_id, e.iteration, e.attempt,
    case when e.epoch < 0 then h.seqs[e.place] - e.back else e.epoch end, 0, e.payload, e.value
  from heads h,
    (
      select
        unnest(:event_place::integer[]) as place, unnest(:event_back::integer[]) as back, {events}
    ) as e
  returning {ending} as ending
),
closed as (
  delete from leases l
  using (
    select
      unnest(:closed_run_id::uuid[]) as run_id, unnest(:closed_node_id::text[]) as node_id, unnest(:closed_iteration::integer[]) as iteration
  ) as c
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
    (
      select
        unnest(:opened_place::integer[]) as place, unnest(:opened_back::integer[]) as back, {leases}
    ) as o
  where (select count(*) from closed) >= 0
)
select
  h.seqs::double precision[] as seqs,
  h.held,
  {same_pauses} as pauses,
  {announce_ends} as ends,
  {notify_readers} as notified
from heads h

-- name: create_runs
-- New runs at version 1 with their first events and leases. A used request id violates run_requests_pkey and fails the whole transaction.
-- The statement fails with PW003 if a run assumed that its definition is the newest of its workflow, and it is not. The caller knows the
-- seqs of a new run.
with inserted as (
  insert into runs (
    run_id, tenant_id, definition_id, workflow_id, workflow_version, kind, status, version, last_seq,
    has_failures, priority, error_message, failure_class, request_id, traceparent, deadline_at, ended_at,
    parent_run_id, parent_node_id, parent_iteration, schedule_id, schedule_at, start_at
  )
  select
    n.run_id, n.tenant_id, n.definition_id, n.workflow_id, n.workflow_version, n.kind, n.status, 1, n.event_count,
    n.has_failures, n.priority, n.error_message, n.failure_class, n.request_id, n.traceparent,
    to_timestamp(n.deadline_at / 1000.0), case when n.ended then now() end,
    n.parent_run_id, n.parent_node_id, n.parent_iteration, n.schedule_id, to_timestamp(n.schedule_at / 1000.0),
    to_timestamp(n.start_at / 1000.0)
  from (
    select
      unnest(:run_id::uuid[]) as run_id, unnest(:tenant_id::text[]) as tenant_id, unnest(:definition_id::uuid[]) as definition_id,
      unnest(:workflow_id::text[]) as workflow_id, unnest(:workflow_version::integer[]) as workflow_version, unnest(:kind::text[]) as kind,
      unnest(:status::text[]) as status, unnest(:event_count::integer[]) as event_count, unnest(:has_failures::boolean[]) as has_failures,
      unnest(:priority::integer[]) as priority, unnest(:error_message::text[]) as error_message,
      unnest(:failure_class::text[]) as failure_class, unnest(:request_id::text[]) as request_id,
      unnest(:traceparent::text[]) as traceparent, unnest(:deadline_at::double precision[]) as deadline_at, unnest(:ended::boolean[]) as ended,
      unnest(:assumes_newest::boolean[]) as assumes_newest, unnest(:parent_run_id::uuid[]) as parent_run_id,
      unnest(:parent_node_id::text[]) as parent_node_id, unnest(:parent_iteration::integer[]) as parent_iteration,
      unnest(:schedule_id::text[]) as schedule_id, unnest(:schedule_at::double precision[]) as schedule_at,
      unnest(:start_at::double precision[]) as start_at
  ) as n
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
  from (
    select
      unnest(:tenant_id::text[]) as tenant_id, unnest(:request_id::text[]) as request_id, unnest(:request_hash::text[]) as request_hash,
      unnest(:run_id::uuid[]) as run_id
  ) as n
  where n.request_id is not null
  order by n.tenant_id, n.request_id
),
appended as (
  insert into run_events (run_id, seq, type, node_id, iteration, attempt, epoch, ordinal, payload, value)
  select e.run_id, e.seq, e.type, e.node_id, e.iteration, e.attempt, e.epoch, 0, e.payload, e.value
  from (
    select
      unnest(:event_run_id::uuid[]) as run_id, unnest(:event_seq::bigint[]) as seq, {events}
  ) as e
  returning {ending} as ending
),
opened as (
  insert into leases (run_id, node_id, iteration, epoch, attempt, executor_id, deadline_at)
  select o.run_id, o.node_id, o.iteration, o.epoch, o.attempt, o.executor_id, now() + o.limit_ms * interval '1 millisecond'
  from (
    select
      unnest(:opened_run_id::uuid[]) as run_id, unnest(:opened_epoch::bigint[]) as epoch, {leases}
  ) as o
)
select
  case when (select count(*) from inserted) = cardinality(:run_id::uuid[]) then true else pawl_require(false, 'PW003') end as held,
  {same_pauses} as pauses,
  {announce_ends} as ends,
  {notify_readers} as notified

-- name: lock_runs
-- Locks run rows in order of id, so that later statements see the rows of the last writer.
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

-- name: figures
-- The figures that a scheduler reads besides the queues.
select
  (
    select extract(epoch from (min(k.wake_at) - now()))::float8 * 1000
    from slot_keys k
    where k.wake_at is not null
  ) as next_rate_slot_ms,
  (
    select count(*)::integer
    from (select 1 from dead_letters where state = 'open' limit 100000) open
  ) as open_dead_letters,
  p.epoch as pause_epoch,
  (
    select count(*)::integer
    from (select 1 from webhook_deliveries where state = 'pending' limit 100000) pending
  ) as webhooks_pending,
  (
    select extract(epoch from (min(d.due_at) - now()))::float8 * 1000
    from webhook_deliveries d
    where d.state = 'pending'
  ) as webhook_due_ms,
  (
    select extract(epoch from (min(b.due_at) - now()))::float8 * 1000
    from bulks b
    where b.ended_at is null
      and b.state <> 'waiting'
  ) as bulk_due_ms
from pause_epoch p
where p.is_only
