-- Bulks: one action on all runs that a filter found.

-- part: columns
b.bulk_id, b.tenant_id, b.action, b.filter, b.options, b.state, b.state_reason, b.matched, b.canary, b.done, b.failed, b.skipped,
  b.created_at, b.updated_at, b.ended_at

-- part: facts
-- No `exists`: the planner may answer it by reading a whole table once.
r.status, r.stop,
  (select count(*) filter (where d.state = 'open') from dead_letters d where d.run_id = r.run_id) > 0 as has_letters,
  (select count(*) from run_repairs p where p.repair_of = r.run_id) > 0 as is_repaired,
  (select p.run_id from runs p where p.run_id = r.parent_run_id) is not null as has_parent,
  (select count(*) filter (where c.ended_at is null) from runs c where c.parent_run_id = r.run_id) > 0 as has_live_child

-- name: create
-- Stores a bulk. No row if a bulk of this request exists.
insert into bulks as b (bulk_id, tenant_id, request_id, request_hash, action, filter, options, definition, state)
values (
  :bulk_id::uuid, :tenant_id::text, :request_id::text, :request_hash::text, :action::text, :filter::text, :options::json,
  :definition::text, :state::text
)
on conflict (tenant_id, request_id) where request_id is not null do nothing
returning b.bulk_id

-- name: of_request
-- The bulk that a request started.
select {columns}, b.request_hash
from bulks b
where b.tenant_id = :tenant_id::text
  and b.request_id = :request_id::text

-- name: take
-- Stores the runs that a filter finds, oldest first. `filter-sql.ts` puts the condition in the place of the marked one.
with found as materialized (
  select r.run_id
  from runs r
  left join run_metadata m on m.run_id = r.run_id
  where r.tenant_id = :tenant_id::text
    and true /* filter */
  order by r.run_id
  limit :limit::integer
), taken as (
  insert into bulk_runs (bulk_id, position, run_id)
  select :bulk_id::uuid, row_number() over (order by run_id), run_id
  from found
  returning run_id
)
select count(*)::integer as matched
from taken

-- name: matched
-- Stores how many runs a bulk has.
update bulks b
set matched = :matched::integer, canary = :canary::integer, state = :state::text
where b.bulk_id = :bulk_id::uuid
returning {columns}

-- name: preview
-- The runs that a filter finds, by the facts that decide about them.
select f.status, f.stop, f.has_letters, f.is_repaired, f.has_parent, f.has_live_child, count(*)::integer as count,
  (array_agg(f.run_id order by f.run_id))[1:20] as run_ids
from (
  select r.run_id, {facts}
  from runs r
  left join run_metadata m on m.run_id = r.run_id
  where r.tenant_id = :tenant_id::text
    and true /* filter */
  order by r.run_id
  limit :limit::integer
) f
group by f.status, f.stop, f.has_letters, f.is_repaired, f.has_parent, f.has_live_child

-- name: active
-- Bulks that need steps, in the order in which these are due.
select {columns}, extract(epoch from b.due_at - now())::double precision * 1000 as due_in_ms
from bulks b
where b.ended_at is null
  and b.state <> 'waiting'
order by b.due_at
limit :limit::integer

-- name: one
-- One bulk, by its id.
select {columns}
from bulks b
where b.bulk_id = :bulk_id::uuid

-- name: definition
-- The definition of a repair.
select b.definition
from bulks b
where b.bulk_id = :bulk_id::uuid

-- name: begin
-- Takes the next runs for a step, in order. In a bulk that was stopped, only those that a step has begun. The lock of the bulk makes a
-- concurrent stop wait, so no step begins a run after the stop.
with held as materialized (
  select b.bulk_id, b.state in ('stopped', 'aborted') as is_over
  from bulks b
  where b.bulk_id = :bulk_id::uuid
    and b.state = :state::text
  for share
), next_runs as materialized (
  select n.bulk_id, n.position
  from held
  cross join lateral (
    select o.bulk_id, o.position
    from bulk_runs o
    where o.bulk_id = held.bulk_id
      and o.outcome is null
      and o.position <= :up_to::integer
      and (not held.is_over or o.attempts > 0)
    order by o.position
    limit :limit::integer
  ) n
)
update bulk_runs o
set attempts = o.attempts + 1
from next_runs n
where o.bulk_id = n.bulk_id
  and o.position = n.position
returning o.position, o.run_id, o.attempts

-- name: facts
-- The facts of runs.
select r.run_id, {facts}
from runs r
where r.run_id = any (:run_ids::uuid[])

-- name: record
-- Records what happened to runs, once each, counts them, and sets the time of the next step.
with handled as (
  update bulk_runs o
  set outcome = h.outcome, reason = h.reason, message = h.message, new_run_id = h.new_run_id, ended_at = now()
  from unnest(
    :position::integer[], :outcome::text[], :reason::text[], :message::text[], :new_run_id::uuid[]
  ) as h (position, outcome, reason, message, new_run_id)
  where o.bulk_id = :bulk_id::uuid
    and o.position = h.position
    and o.outcome is null
  returning o.outcome
), counts as (
  select
    count(*) filter (where outcome = 'done') as done,
    count(*) filter (where outcome = 'failed') as failed,
    count(*) filter (where outcome = 'skipped') as skipped
  from handled
)
update bulks b
set done = b.done + c.done, failed = b.failed + c.failed, skipped = b.skipped + c.skipped, updated_at = now(),
  due_at = greatest(b.due_at, now()) + :after_ms::double precision * interval '1 millisecond'
from counts c
where b.bulk_id = :bulk_id::uuid

-- name: delay
-- Delays the next step of a bulk.
update bulks b
set due_at = now() + :after_ms::double precision * interval '1 millisecond'
where b.bulk_id = :bulk_id::uuid

-- name: canary
-- How the new runs of the canary are.
select
  count(*) filter (where r.ended_at is null)::integer as live,
  count(*) filter (where r.ended_at is not null and r.status <> 'completed')::integer as lost
from bulks b
join bulk_runs o on o.bulk_id = b.bulk_id
  and o.position <= b.canary
join runs r on r.run_id = o.new_run_id
where b.bulk_id = :bulk_id::uuid

-- name: move
-- Changes the state of a bulk, if it is still in the state of the decision. A stopped bulk does not end here: a concurrent step may have
-- begun runs that this statement does not see.
update bulks b
set state = :to::text, state_reason = :reason::text, updated_at = now(),
  due_at = case when :to in ('running', 'stopped') then now() else b.due_at end,
  ended_at = case when :to = 'completed' then now() end
where b.bulk_id = :bulk_id::uuid
  and b.state = :from::text
  and b.ended_at is null
returning b.bulk_id

-- name: end
-- Ends a bulk of which no run is under way.
update bulks b
set ended_at = now(), updated_at = now()
where b.bulk_id = :bulk_id::uuid
  and b.ended_at is null

-- name: letters
-- Open dead letters of a run.
select d.dead_letter_id
from dead_letters d
where d.tenant_id = :tenant_id::text
  and d.run_id = :run_id::uuid
  and d.state = 'open'

-- name: forget_runs
-- Deletes runs of the bulk that ended first, if it ended long ago. A bulk may have more runs than one statement can delete.
with oldest as materialized (
  select bulk_id
  from bulks
  where ended_at < now() - :older_than_ms::double precision * interval '1 millisecond'
  order by ended_at, bulk_id
  limit 1
), page as materialized (
  select s.bulk_id, s.position
  from oldest
  cross join lateral (
    select o.bulk_id, o.position
    from bulk_runs o
    where o.bulk_id = oldest.bulk_id
    order by o.position
    limit :limit::integer
  ) s
)
delete from bulk_runs o
using page s
where o.bulk_id = s.bulk_id
  and o.position = s.position
returning o.position

-- name: forget
-- Deletes the bulk that ended first, if it ended long ago and has no runs left.
delete from bulks b
where b.bulk_id = (
    select bulk_id
    from bulks
    where ended_at < now() - :older_than_ms::double precision * interval '1 millisecond'
    order by ended_at, bulk_id
    limit 1
  )
  and not exists (select 1 from bulk_runs o where o.bulk_id = b.bulk_id)
returning b.bulk_id

-- name: of_tenant
-- One bulk of a tenant.
select {columns}
from bulks b
where b.tenant_id = :tenant_id::text
  and b.bulk_id = :bulk_id::uuid

-- name: page
-- Bulks, newest first.
select {columns}
from bulks b
where b.tenant_id = :tenant_id::text
  and b.bulk_id < :before::uuid
order by b.bulk_id desc
limit :limit::integer

-- name: counts
-- How many runs of a bulk failed or were skipped, by reason.
select o.outcome, o.reason, count(*)::integer as count
from bulk_runs o
where o.bulk_id = :bulk_id::uuid
  and o.outcome in ('failed', 'skipped')
group by o.outcome, o.reason
order by count desc, o.reason
limit 100

-- name: runs
-- Runs of a bulk in order.
select o.run_id, o.position, o.outcome, o.reason, o.message, o.new_run_id, o.ended_at
from bulk_runs o
where o.bulk_id = :bulk_id::uuid
  and o.position > :after::integer
  and (cardinality(:outcomes::text[]) = 0 or o.outcome = any (:outcomes::text[]))
order by o.position
limit :limit::integer
