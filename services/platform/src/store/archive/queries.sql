-- The whole record of a run as lines of JSON, and the way back. `services/core/src/archive/record.ts` has the fields. JSON becomes text
-- inside of a line, so it survives to the letter. Times are in UTC, whatever the time zone of the session is.

-- name: head
-- The record of the run, and a stamp that changes with every change of the run and of its dead letters. Metadata change with the run.
select
  row_to_json(t)::text as line,
  t.last_seq,
  t.kind = 'temporary' as is_temporary,
  concat(
    (select r.xmin::text from runs r where r.run_id = :run_id::uuid), ' ',
    (select string_agg(d.xmin::text, ' ' order by d.node_id, d.iteration) from dead_letters d where d.run_id = :run_id::uuid)
  ) as stamp
from (
  select
    'run' as record, 1 as format, r.run_id, r.tenant_id, r.definition_id, r.workflow_id, r.workflow_version, r.kind, r.status, r.version,
    r.last_seq, r.has_failures, r.priority, r.error_message, r.failure_class, r.request_id, r.traceparent,
    r.created_at at time zone 'UTC' as created_at,
    r.ended_at at time zone 'UTC' as ended_at, r.deadline_at at time zone 'UTC' as deadline_at,
    r.start_at at time zone 'UTC' as start_at, r.parent_run_id, r.parent_node_id, r.parent_iteration, r.schedule_id,
    r.schedule_at at time zone 'UTC' as schedule_at, r.thread_id, r.assistant_id, r.stop
  from runs r
  where r.tenant_id = :tenant_id::text
    and r.run_id = :run_id::uuid
) t

-- name: before_values
-- The records between the run and its stored values, in the order of a file.
select line
from (
  select 1 as place, '' as rank, row_to_json(t)::text as line
  from (select 'metadata' as record, m.metadata::text as metadata from run_metadata m where m.run_id = :run_id::uuid) t
  union all
  select 2, '', row_to_json(t)::text
  from (
    select 'request' as record, q.request_id, q.request_hash
    from run_requests q
    where q.tenant_id = (select r.tenant_id from runs r where r.run_id = :run_id::uuid)
      and q.request_id = (select r.request_id from runs r where r.run_id = :run_id::uuid)
      and q.run_id = :run_id::uuid
  ) t
  union all
  select 3, '', row_to_json(t)::text
  from (select 'repair' as record, p.repair_of, p.plan_digest from run_repairs p where p.run_id = :run_id::uuid) t
  union all
  select 4, '', row_to_json(t)::text
  from (select 'thread' as record, l.thread_id, l.position, l.turn from thread_runs l where l.run_id = :run_id::uuid) t
  union all
  select 5, '', row_to_json(t)::text
  from (
    select
      'graph' as record, d.definition_id, d.workflow_id, d.version, d.digest, d.title, d.node_count, d.body,
      d.created_at at time zone 'UTC' as created_at
    from runs r
    join definitions d on d.definition_id = r.definition_id
    where r.run_id = :run_id::uuid
  ) t
  union all
  select 6, t.run_id::text, row_to_json(t)::text
  from (select 'child' as record, c.run_id from runs c where c.parent_run_id = :run_id::uuid) t
) lines
order by place, rank

-- name: named_values
-- The stored values that events of the run name. The limit makes the planner look each of them up.
with named as materialized (
  select sha256
  from value_refs
  where run_id = :run_id::uuid
    and is_named
)
select v.sha256, s.bytes::float8 as bytes, s.digests, s.generation
from named v
cross join lateral (
  select bytes, digests, generation
  from stored_values
  where sha256 = v.sha256
    and digests is not null
  limit 1
) s
order by v.sha256

-- name: before_events
-- The records between the stored values and the events.
select line
from (
  select 1 as place, t.node_id as rank, t.iteration as turn, t.name as last, row_to_json(t)::text as line
  from (
    select
      'effect' as record, e.node_id, e.iteration, e.name, e.class, e.begun_epoch, e.committed_epoch, e.result::text as result,
      e.begun_at at time zone 'UTC' as begun_at, e.committed_at at time zone 'UTC' as committed_at
    from effects e
    where e.run_id = :run_id::uuid
  ) t
  union all
  select 2, t.approval_id::text, 0, '', row_to_json(t)::text
  from (
    select
      'approval' as record, a.approval_id, a.workflow_id, a.node_id, a.iteration, a.reason, a.message, a.details::text as details,
      a.assignees, a.state, a.opened_at at time zone 'UTC' as opened_at, a.deadline_at at time zone 'UTC' as deadline_at,
      a.closed_at at time zone 'UTC' as closed_at, a.decided_by, a.comment, a.response::text as response
    from approvals a
    where a.run_id = :run_id::uuid
  ) t
  union all
  select 3, t.node_id, t.iteration, '', row_to_json(t)::text
  from (
    select
      'dead_letter' as record, d.dead_letter_id, d.workflow_id, d.node_id, d.iteration, d.attempt, d.node_type, d.deliveries,
      d.executor_id, d.reason, d.error_message, d.died_at at time zone 'UTC' as died_at, d.state, d.redrive_run_id,
      d.closed_at at time zone 'UTC' as closed_at, d.closed_request_id
    from dead_letters d
    where d.run_id = :run_id::uuid
  ) t
) lines
order by place, rank, turn, last

-- name: events
-- A page of the log up to a seq: at most `limit` events and about `bytes_max` bytes, but always at least one event.
select seq, line
from (
  select
    page.seq,
    page.line,
    coalesce(sum(octet_length(page.line)) over (order by page.seq rows between unbounded preceding and 1 preceding), 0) as bytes_before
  from (
    select t.seq, row_to_json(t)::text as line
    from (
      select
        'event' as record, e.seq, e.type, e.node_id, e.iteration, e.attempt, e.epoch, e.ordinal, e.payload::text as payload,
        e.value::text as value, e.at at time zone 'UTC' as at
      from run_events e
      where e.run_id = :run_id::uuid
        and e.seq > :after_seq::bigint
        and e.seq <= :last_seq::bigint
      order by e.seq
      limit :limit::integer
    ) t
  ) page
) sized
where bytes_before < :bytes_max::bigint
order by seq

-- name: lock_restore
-- One restore of a run at a time, in its transaction.
select true as held
from pg_advisory_xact_lock(hashtextextended('restore ' || :run_id::uuid::text, 0))

-- name: exists
select true as found
from runs
where run_id = :run_id::uuid

-- name: last_leftover
-- The log of a run that retention removed stays until its month goes. The last seq of such a log.
select coalesce(max(seq), 0)::float8 as seq
from run_events
where run_id = :run_id::uuid

-- name: delete_leftovers
-- Deletes a part of such a log.
delete from run_events
where run_id = :run_id::uuid
  and seq > :after_seq::bigint
  and seq <= :last_seq::bigint

-- name: keep_graph
-- The graph of the run, unless the database has it.
insert into definitions (definition_id, tenant_id, workflow_id, version, digest, title, node_count, body, created_at)
select
  t.definition_id, :tenant_id::text, t.workflow_id, t.version, t.digest, t.title, t.node_count, t.body, t.created_at at time zone 'UTC'
from json_to_record(:line::json) as t (
  definition_id uuid, workflow_id text, version integer, digest text, title text, node_count integer, body text, created_at timestamp
)
on conflict do nothing

-- name: digest_of_graph
select digest, body
from definitions
where definition_id = :definition_id::uuid

-- name: keep_run
-- The run itself. It comes last: a reader finds the rest of it by this row. It locks its assistant, as the insert of a new run does. An
-- assistant that is deleted, or younger than the run, is not its own any more.
insert into runs (
  run_id, tenant_id, definition_id, workflow_id, workflow_version, kind, status, version, last_seq, has_failures, priority, error_message,
  failure_class, request_id, traceparent, created_at, ended_at, deadline_at, start_at, parent_run_id, parent_node_id, parent_iteration, schedule_id,
  schedule_at, thread_id, assistant_id, stop, restored_at
)
select
  t.run_id, t.tenant_id, t.definition_id, t.workflow_id, t.workflow_version, t.kind, t.status, t.version, t.last_seq, t.has_failures,
  t.priority, t.error_message, t.failure_class, t.request_id, t.traceparent, t.created_at at time zone 'UTC', t.ended_at at time zone 'UTC',
  t.deadline_at at time zone 'UTC', t.start_at at time zone 'UTC', t.parent_run_id, t.parent_node_id, t.parent_iteration, t.schedule_id, t.schedule_at at time zone 'UTC',
  t.thread_id,
  (
    select a.assistant_id
    from assistants a
    where a.tenant_id = t.tenant_id
      and a.assistant_id = t.assistant_id
      and a.deleted_at is null
      and a.created_at <= t.created_at at time zone 'UTC'
    for key share
  ), t.stop, clock_timestamp()
from json_to_record(:line::json) as t (
  run_id uuid, tenant_id text, definition_id uuid, workflow_id text, workflow_version integer, kind text, status text, version bigint,
  last_seq bigint, has_failures boolean, priority integer, error_message text, failure_class text, request_id text, traceparent text, created_at timestamp,
  ended_at timestamp, deadline_at timestamp, start_at timestamp, parent_run_id uuid, parent_node_id text, parent_iteration integer, schedule_id text,
  schedule_at timestamp, thread_id text, assistant_id text, stop text
)

-- name: keep_metadata
insert into run_metadata (run_id, metadata)
select :run_id::uuid, t.metadata::jsonb
from json_to_record(:line::json) as t (metadata text)

-- name: keep_request
-- Another run may have the request id by now. It keeps it.
insert into run_requests (tenant_id, request_id, request_hash, run_id)
select :tenant_id::text, t.request_id, t.request_hash, :run_id::uuid
from json_to_record(:line::json) as t (request_id text, request_hash text)
on conflict do nothing

-- name: keep_repair
insert into run_repairs (run_id, repair_of, plan_digest)
select :run_id::uuid, t.repair_of, t.plan_digest
from json_to_record(:line::json) as t (repair_of uuid, plan_digest text)

-- name: keep_place
-- The place of the run in its thread, if the thread exists and no other run has the place. A thread that is younger than the run is another
-- one of the same id.
insert into thread_runs (tenant_id, thread_id, position, turn, run_id, state)
select h.tenant_id, h.thread_id, t.position, t.turn, :run_id::uuid, 'over'
from json_to_record(:line::json) as t (thread_id text, position bigint, turn bigint)
join threads h on h.tenant_id = :tenant_id::text and h.thread_id = t.thread_id
where h.deleted_at is null
  and h.created_at <= (:run_line::json ->> 'created_at')::timestamp at time zone 'UTC'
on conflict do nothing

-- name: keep_effects
insert into effects (
  run_id, node_id, iteration, name, class, begun_epoch, committed_epoch, result, begun_at, committed_at
)
select
  :run_id::uuid, t.node_id, t.iteration, t.name, t.class, t.begun_epoch, t.committed_epoch, t.result::json, t.begun_at at time zone 'UTC',
  t.committed_at at time zone 'UTC'
from json_to_recordset(:lines::json) as t (
  node_id text, iteration integer, name text, class text, begun_epoch bigint, committed_epoch bigint, result text, begun_at timestamp,
  committed_at timestamp
)

-- name: keep_approvals
insert into approvals (
  approval_id, tenant_id, run_id, workflow_id, node_id, iteration, reason, message, details, assignees, state, opened_at, deadline_at,
  closed_at, decided_by, comment, response
)
select
  t.approval_id, :tenant_id::text, :run_id::uuid, t.workflow_id, t.node_id, t.iteration, t.reason, t.message, t.details::json, t.assignees,
  t.state, t.opened_at at time zone 'UTC', t.deadline_at at time zone 'UTC', t.closed_at at time zone 'UTC', t.decided_by, t.comment,
  t.response::json
from json_to_recordset(:lines::json) as t (
  approval_id uuid, workflow_id text, node_id text, iteration integer, reason text, message text, details text, assignees text[],
  state text, opened_at timestamp, deadline_at timestamp, closed_at timestamp, decided_by text, comment text, response text
)

-- name: keep_dead_letters
insert into dead_letters (
  dead_letter_id, tenant_id, run_id, workflow_id, node_id, iteration, attempt, node_type, deliveries, executor_id, reason, error_message,
  died_at, state, redrive_run_id, closed_at, closed_request_id
)
select
  t.dead_letter_id, :tenant_id::text, :run_id::uuid, t.workflow_id, t.node_id, t.iteration, t.attempt, t.node_type, t.deliveries,
  t.executor_id, t.reason, t.error_message, t.died_at at time zone 'UTC', t.state, t.redrive_run_id, t.closed_at at time zone 'UTC',
  t.closed_request_id
from json_to_recordset(:lines::json) as t (
  dead_letter_id uuid, workflow_id text, node_id text, iteration integer, attempt integer, node_type text, deliveries integer,
  executor_id uuid, reason text, error_message text, died_at timestamp, state text, redrive_run_id uuid, closed_at timestamp,
  closed_request_id text
)

-- name: keep_events
insert into run_events (run_id, seq, type, node_id, iteration, attempt, epoch, ordinal, payload, value, at)
select
  :run_id::uuid, t.seq, t.type, t.node_id, t.iteration, t.attempt, t.epoch, t.ordinal, t.payload::jsonb, t.value::json,
  t.at at time zone 'UTC'
from json_to_recordset(:lines::json) as t (
  seq bigint, type text, node_id text, iteration integer, attempt integer, epoch bigint, ordinal integer, payload text, value text,
  at timestamp
)
