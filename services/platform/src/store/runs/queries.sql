-- Runs: the projection that the tick writes in the transaction of the events. Empty parameters of a page mean no filter.

-- part: quarantine
case when r.quarantined_at is not null then
    json_build_object(
      'at', floor(extract(epoch from r.quarantined_at) * 1000), 'reason', coalesce(r.quarantine_reason, 'INTERNAL'),
      'detail', coalesce(r.quarantine_detail, '')
    )
  end as quarantine

-- part: columns
r.run_id, r.definition_id, r.workflow_id, r.workflow_version, r.kind, r.status, r.last_seq, r.has_failures, r.priority,
  r.error_message, r.failure_class, r.traceparent, r.created_at, r.ended_at, r.restored_at, r.deadline_at, r.start_at, {quarantine},
  case when r.parent_run_id is not null then
    json_build_object('runId', r.parent_run_id, 'nodeId', r.parent_node_id, 'iteration', coalesce(r.parent_iteration, 0))
  end as parent,
  case when r.schedule_id is not null then
    json_build_object('scheduleId', r.schedule_id, 'at', floor(extract(epoch from r.schedule_at) * 1000))
  end as schedule,
  r.thread_id, r.assistant_id, r.stop,
  (select m.metadata from run_metadata m where m.run_id = r.run_id) as metadata

-- part: filter
run_id < :before::uuid
  and (cardinality(:statuses::text[]) = 0 or status = any (:statuses::text[]))
  and (:kind::text = '' or kind = :kind::text)
  and (cardinality(:stops::text[]) = 0 or status <> 'cancelled' or stop = any (:stops::text[]))

-- part: newest_first
order by run_id desc
limit :limit::integer

-- part: search_filter
{filter}
  and (:workflow_id::text = '' or workflow_id = :workflow_id::text)
  and (:schedule_id::text = '' or schedule_id = :schedule_id::text)
  and (:thread_id::text = '' or thread_id = :thread_id::text)
  and (:assistant_id::text = '' or assistant_id = :assistant_id::text)

-- name: by_id
-- Runs by id.
select {columns}
from runs r
where tenant_id = :tenant_id::text
  and run_id = any (:run_ids::uuid[])

-- name: page
-- Runs of a tenant, newest first. Walks runs_newest.
select {columns}
from runs r
where tenant_id = :tenant_id::text
  and {filter}
{newest_first}

-- name: page_of_workflow
-- Runs of one workflow, newest first. Walks runs_by_workflow.
select {columns}
from runs r
where tenant_id = :tenant_id::text
  and workflow_id = :workflow_id::text
  and {filter}
{newest_first}

-- name: page_of_schedule
-- Runs of one schedule, newest first. Walks runs_by_schedule.
select {columns}
from runs r
where tenant_id = :tenant_id::text
  and schedule_id = :schedule_id::text
  and {filter}
  and (:workflow_id::text = '' or workflow_id = :workflow_id::text)
{newest_first}

-- name: page_of_thread
-- Runs of one thread, newest first. Reads runs_of_thread.
select {columns}
from runs r
where tenant_id = :tenant_id::text
  and thread_id = :thread_id::text
  and {filter}
  and (:workflow_id::text = '' or workflow_id = :workflow_id::text)
  and (:schedule_id::text = '' or schedule_id = :schedule_id::text)
{newest_first}

-- name: page_of_assistant
-- Runs of one assistant, newest first. Walks runs_of_assistant.
select {columns}
from runs r
where tenant_id = :tenant_id::text
  and assistant_id = :assistant_id::text
  and {filter}
  and (:workflow_id::text = '' or workflow_id = :workflow_id::text)
  and (:schedule_id::text = '' or schedule_id = :schedule_id::text)
  and (:thread_id::text = '' or thread_id = :thread_id::text)
{newest_first}

-- name: filtered
-- Runs that a filter finds, newest first. `filter-sql.ts` puts the condition in the place of the marked one.
select {columns}
from runs r
left join run_metadata m on m.run_id = r.run_id
where r.tenant_id = :tenant_id::text
  and r.run_id < :before::uuid
  and (cardinality(:statuses::text[]) = 0 or r.status = any (:statuses::text[]))
  and (cardinality(:stops::text[]) = 0 or r.status <> 'cancelled' or r.stop = any (:stops::text[]))
  and (:kind::text = '' or r.kind = :kind::text)
  and (:workflow_id::text = '' or r.workflow_id = :workflow_id::text)
  and (:schedule_id::text = '' or r.schedule_id = :schedule_id::text)
  and (:thread_id::text = '' or r.thread_id = :thread_id::text)
  and (:assistant_id::text = '' or r.assistant_id = :assistant_id::text)
  and true /* filter */
order by r.run_id desc
limit :limit::integer

-- name: search
-- Runs that a search finds, newest first. There are three ways: by words of the workflow, by the beginning of the run id, and by the short
-- run id. The text, or each of its words, must begin a word of the workflow. Each way walks an index, up to a limit if it may find many.
-- `chr(1114111)` is above every character. `short` is separate from the tenant. Otherwise the planner may walk all runs of the tenant.
with short as materialized (
  select run_id, tenant_id, status, kind, workflow_id, schedule_id, thread_id, assistant_id, stop
  from runs
  where right(run_id::text, 8) = :short_id::text
), matched as (
  select workflow_id
  from (
    select workflow_id
    from workflow_words
    where tenant_id = :tenant_id::text
      and word ~>=~ :word::text and word ~<~ (:word::text || chr(1114111))
    order by word using ~<~
    limit :matches_max::integer
  ) by_text
  union
  select workflow_id
  from (
    select w.workflow_id
    from workflow_words w
    where w.tenant_id = :tenant_id::text
      and w.word ~>=~ :longest_word::text and w.word ~<~ (:longest_word::text || chr(1114111))
      and not exists (
        select
        from unnest(:other_words::text[]) other
        where not exists (
          select
          from workflow_words o
          where o.tenant_id = :tenant_id::text
            and o.workflow_id = w.workflow_id
            and o.word ~>=~ other and o.word ~<~ (other || chr(1114111))
        )
      )
    order by w.word using ~<~
    limit :matches_max::integer
  ) by_words
), found as (
  select newest.run_id
  from matched m
  cross join lateral (
    select run_id
    from runs
    where tenant_id = :tenant_id::text
      and workflow_id = m.workflow_id
      and {search_filter}
    order by run_id desc
    limit :limit::integer
  ) newest
  union
  select run_id
  from (
    select run_id
    from runs
    where tenant_id = :tenant_id::text
      and run_id between :run_from::uuid and :run_to::uuid
      and {search_filter}
    order by run_id desc
    limit :limit::integer
  ) by_prefix
  union
  select run_id
  from short
  where tenant_id = :tenant_id::text
    and {search_filter}
)
select {columns}
from runs r
where run_id in (select run_id from found order by run_id desc limit :limit::integer)
order by run_id desc
limit :limit::integer

-- name: load
-- The rows of many runs, with their snapshots if requested. In one statement, a snapshot that is ahead of its log is corrupt. The limit
-- makes the planner probe the snapshots: without it, the planner walked an empty table.
select
  r.run_id, r.version, r.last_seq, r.definition_id, r.workflow_id, r.kind, r.parent_run_id is not null as is_child,
  r.priority, r.traceparent, r.ended_at is not null as has_ended,
  {quarantine},
  s.seq as snapshot_seq, s.format as snapshot_format, s.digest as snapshot_digest, s.body as snapshot_body
from unnest(:run_id::uuid[], :from_snapshot::boolean[]) as c (run_id, from_snapshot)
join runs r on r.run_id = c.run_id
left join lateral (
  select seq, format, digest, body
  from run_snapshots
  where run_id = c.run_id
    and c.from_snapshot
  limit 1
) s on true

-- name: of_requests
-- Runs by the request ids they were started with.
select request_id, request_hash, run_id
from run_requests
where tenant_id = :tenant_id::text
  and request_id = any (:request_ids::text[])

-- name: of_input_keys
-- Runs by the inputs they were started with, for keys that are not expired. A run that was removed does not count.
select k.input_key, k.run_id
from input_keys k
where k.tenant_id = :tenant_id::text
  and k.input_key = any (:input_keys::text[])
  and k.expires_at > now()
  and (select r.run_id from runs r where r.run_id = k.run_id) is not null

-- name: live_children
-- Live runs that nodes of these runs started. It walks runs_by_parent for these parents only.
select run_id
from runs
where parent_run_id = any (:run_ids::uuid[])
  and ended_at is null
order by run_id
limit :limit::integer

-- name: overdue
-- Live runs whose deadline has passed, oldest first. The partial index runs_deadline holds no run that waits, is paused or is
-- over.
select run_id
from runs
where ended_at is null
  and status not in ('waiting', 'paused')
  and quarantined_at is null
  and deadline_at < now()
order by deadline_at
limit :limit::integer

-- name: live_load
-- How many runs have not begun and how many are under way, up to a bound, and how long the pending ones have waited. A run with a later start
-- waits from that time on.
select
  count(*) filter (where l.status = 'pending')::integer as runs_pending,
  count(*) filter (where l.status <> 'pending')::integer as runs_running,
  max(l.age_ms) filter (where l.status = 'pending') as pending_oldest_ms,
  percentile_cont(0.5) within group (order by l.age_ms) filter (where l.status = 'pending') as pending_median_ms
from (
  select r.status,
    case when greatest(r.created_at, r.start_at) <= now()
      then extract(epoch from now() - greatest(r.created_at, r.start_at))::float8 * 1000
    end as age_ms
  from runs r
  where r.ended_at is null
    and r.status not in ('waiting', 'paused')
  limit 100000
) l

-- name: move_deadlines
-- New deadlines of runs that continue after a wait. The tick has locked their rows.
update runs r
set deadline_at = to_timestamp(m.deadline_at / 1000.0)
from unnest(:run_id::uuid[], :deadline_at::double precision[]) as m (run_id, deadline_at)
where r.run_id = m.run_id

-- name: mark_stops
-- How runs were stopped. The tick has locked their rows.
update runs r
set stop = m.stop
from unnest(:run_id::uuid[], :stop::text[]) as m (run_id, stop)
where r.run_id = m.run_id

-- name: insert_test_graph
-- The graph of a test run. The run, which starts in the same transaction, has the request id.
insert into definitions (definition_id, tenant_id, digest, title, node_count, body)
values (:definition_id::uuid, :tenant_id::text, :digest::text, :title::text, :node_count::integer, :body::text)

-- name: drop_input_keys
-- Deletes expired keys, so that their inputs may start again. The tick sends this before it inserts keys.
delete from input_keys
where expires_at <= now()

-- name: free_input_keys
-- Deletes keys whose run was removed, so that their inputs may start again. The tick sends this before it inserts keys. A pair of a tenant and
-- a key that no start has may be deleted too: nothing uses it any more.
delete from input_keys k
where k.tenant_id = any (:tenant_id::text[])
  and k.input_key = any (:input_key::text[])
  and (select r.run_id from runs r where r.run_id = k.run_id) is null

-- name: keep_input_keys
-- Stores the run that an input started. A key that is not expired violates input_keys_pkey and fails the whole transaction: two schedulers
-- that start the same input conflict there.
insert into input_keys (tenant_id, input_key, run_id, expires_at)
select n.tenant_id, n.input_key, n.run_id, now() + n.ttl_ms * interval '1 millisecond'
from unnest(:tenant_id::text[], :input_key::text[], :run_id::uuid[], :ttl_ms::double precision[])
  as n (tenant_id, input_key, run_id, ttl_ms)
order by n.tenant_id, n.input_key

-- name: keep_metadata
-- The metadata of runs whose rows this transaction inserts or advances. So two schedulers never write one row at the same time.
insert into run_metadata (run_id, metadata)
select n.run_id, n.metadata::jsonb
from unnest(:run_id::uuid[], :metadata::text[]) as n (run_id, metadata)
order by n.run_id
on conflict (run_id) do update set metadata = excluded.metadata

-- name: link_repairs
-- Links runs that start to the finished runs that they repair.
insert into run_repairs (run_id, repair_of, plan_digest)
select n.run_id, n.repair_of, n.plan_digest
from unnest(:run_id::uuid[], :repair_of::uuid[], :plan_digest::text[]) as n (run_id, repair_of, plan_digest)

-- name: repairs
-- The run that a run repairs, and the runs that repair it, oldest first.
select
  (select l.repair_of from run_repairs l where l.run_id = :run_id::uuid) as repair_of,
  array(
    select l.run_id from run_repairs l where l.repair_of = :run_id::uuid order by l.run_id limit :limit::integer
  ) as repaired_by

-- part: other_rows
-- Deletes what other tables know of the runs in `deleted`. A test compares this list with the tables of the schema.
requests as (
  delete from run_requests
  where tenant_id = any (array(select tenant_id from deleted))
    and request_id = any (array(select request_id from deleted))
    and run_id = any (array(select run_id from deleted))
), snapshots as (
  delete from run_snapshots where run_id = any (array(select run_id from deleted))
), ledger as (
  delete from effects where run_id = any (array(select run_id from deleted))
), named as (
  delete from value_refs where run_id = any (array(select run_id from deleted)) returning sha256
), loosened as (
  update stored_values
  set loose_at = now()
  where sha256 = any (array(select sha256 from named))
), questions as (
  delete from approvals where run_id = any (array(select run_id from deleted))
), letters as (
  delete from dead_letters where run_id = any (array(select run_id from deleted))
), metadata as (
  delete from run_metadata where run_id = any (array(select run_id from deleted))
), receivers as (
  delete from run_webhooks where run_id = any (array(select run_id from deleted))
), repairs as (
  delete from run_repairs where run_id = any (array(select run_id from deleted))
), lines as (
  delete from thread_runs where run_id = any (array(select run_id from deleted))
), graphs as (
  delete from definitions where definition_id = any (array(select definition_id from deleted)) and workflow_id is null
)

-- name: delete_unkept
-- Deletes finished test runs and temporary runs with all their rows except the log, and the temporary runs below them. Returns them all, and
-- which of them it was asked for. Runs of another kind, and those that have a live run below them, stay. Skips a run that another
-- transaction deletes now. The deliveries of a test run outlive it. The limit makes the planner probe runs_by_parent.
with recursive roots as materialized (
  select run_id
  from runs
  where run_id = any (:run_ids::uuid[])
    and kind in ('test', 'temporary')
    and parent_run_id is null
    and ended_at is not null
  for update skip locked
), below as (
  select run_id as root_id, run_id, true as has_ended
  from roots
  union all
  select b.root_id, c.run_id, c.ended_at is not null
  from below b
  cross join lateral (
    select run_id, ended_at
    from runs
    where parent_run_id = b.run_id
      and kind = 'temporary'
    limit 1000000
  ) c
), deleted as (
  delete from runs
  where run_id = any (array(
    select b.run_id
    from below b
    where not exists (select 1 from below l where l.root_id = b.root_id and not l.has_ended)
  ))
  returning run_id, definition_id, tenant_id, request_id, kind
), logs as (
  insert into removed_logs (run_id) select run_id from deleted on conflict do nothing
), posted as (
  delete from webhook_deliveries
  where run_id = any (array(select run_id from deleted where kind = 'temporary'))
    and state <> 'pending'
  returning run_id, delivery_id
), called as (
  delete from webhook_attempts a
  using posted p
  where a.run_id = p.run_id
    and a.delivery_id = p.delivery_id
), commands as (
  delete from workflow_jobs
  where run_id = any (array(select run_id from deleted))
    and status in ('completed', 'dead_letter')
), {other_rows}
select run_id, run_id in (select run_id from roots) as is_root
from deleted

-- name: due_temporary
-- Temporary runs that may go within a while, the first one first, and how long each still stays: its end must be known to everything that waits for it. Runs
-- below it must have ended, and webhooks must have been called, the last of them this long ago. A dead letter keeps its run: a person has to
-- see what a compensation left in the world.
select r.run_id, extract(epoch from (r.ended_at - now()))::float8 * 1000 + :grace_ms::float8 as due_in_ms
from runs r
where r.kind = 'temporary'
  and r.parent_run_id is null
  and r.ended_at < now() + (:within_ms::float8 - :grace_ms::float8) * interval '1 millisecond'
  and not exists (
    with recursive below as (
      select r.run_id, true as has_ended
      union all
      select c.run_id, c.ended_at is not null
      from below b
      cross join lateral (
        select run_id, ended_at
        from runs
        where parent_run_id = b.run_id
        limit 1000000
      ) c
    )
    select 1
    from below b
    where not b.has_ended
      or (
        select 1
        from webhook_deliveries d
        where d.run_id = b.run_id
          and (d.state = 'pending' or d.ended_at > now() - :grace_ms::float8 * interval '1 millisecond')
        limit 1
      ) is not null
      or coalesce((select bool_or(l.state = 'open') from dead_letters l where l.run_id = b.run_id), false)
  )
order by r.ended_at, r.run_id
limit :limit::integer

-- name: delete_runs
-- Deletes finished runs with all their rows except the log: those of a thread or an assistant that a user deletes. A run stays while there is a
-- run below it. Takes runs until they have this many events, because their other rows grow with the log. Skips a run whose row another
-- transaction holds.
with asked as materialized (
  select r.run_id, sum(r.last_seq) over (order by r.run_id) - r.last_seq as events_before
  from runs r
  where r.run_id = any (:run_ids::uuid[])
    and r.ended_at is not null
    and (select c.run_id from runs c where c.parent_run_id = r.run_id limit 1) is null
), held as materialized (
  select run_id
  from runs
  where run_id = any (array(select run_id from asked where events_before < :events::bigint))
  for update skip locked
), deleted as (
  delete from runs
  where run_id = any (array(select run_id from held))
  returning run_id, definition_id, tenant_id, request_id
), logs as (
  insert into removed_logs (run_id) select run_id from deleted on conflict do nothing
), commands as (
  delete from workflow_jobs
  where run_id = any (array(select run_id from deleted))
    and status in ('completed', 'dead_letter')
), {other_rows}
select run_id
from deleted

-- name: ended_below
-- Some finished runs that nodes of these runs started. The limit makes the planner probe runs_by_parent.
select c.run_id
from unnest(:run_ids::uuid[]) as p (run_id)
cross join lateral (
  select run_id, ended_at
  from runs
  where parent_run_id = p.run_id
  limit 1000000
) c
where c.ended_at is not null
limit :limit::integer

-- name: remove
-- Removes finished runs with all their rows except the log, which no reader finds without the run. Skips a run whose row another
-- transaction holds: the next sweep takes it. Stamps are those of the archived runs, in the order of the ids, or none. A run that changed
-- since its archive stays, and so does one whose dead letters changed.
with stamped_letters as materialized (
  select run_id, node_id, iteration, xmin as stamp
  from dead_letters
  where run_id = any (:run_ids::uuid[])
    and cardinality(:stamps::text[]) > 0
  for update skip locked
), held as materialized (
  select run_id, xmin as stamp
  from runs
  where run_id = any (:run_ids::uuid[])
    and ended_at is not null
  for update skip locked
), gone as materialized (
  select h.run_id
  from held h
  where cardinality(:stamps::text[]) = 0
    or concat(
      h.stamp::text, ' ',
      (select string_agg(l.stamp::text, ' ' order by l.node_id, l.iteration) from stamped_letters l where l.run_id = h.run_id)
    ) = (:stamps::text[])[array_position(:run_ids::uuid[], h.run_id)]
), deleted as (
  delete from runs
  where run_id = any (array(select run_id from gone))
  returning run_id, definition_id, tenant_id, request_id
), commands as (
  delete from workflow_jobs
  where run_id = any (array(select run_id from deleted))
    and status in ('completed', 'dead_letter')
), {other_rows}
select run_id
from deleted
