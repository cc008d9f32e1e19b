-- Dead letters: node executions that lost too many executors. Empty parameters of a filter mean all.

-- part: columns
dead_letter_id, run_id, workflow_id, node_id, iteration, attempt, node_type, deliveries, executor_id, reason, error_message,
  died_at, state, redrive_run_id, closed_at

-- part: filter
(cardinality(:ids::uuid[]) = 0 or dead_letter_id = any (:ids))
  and (:workflow_id::text = '' or workflow_id = :workflow_id)
  and (:node_type::text = '' or node_type = :node_type)
  and (:before_ms::double precision is null or died_at < to_timestamp(:before_ms / 1000))

-- name: page
-- Dead letters in one of these states, newest first.
select {columns}
from dead_letters
where tenant_id = :tenant_id::text
  and (cardinality(:states::text[]) = 0 or state = any (:states))
  and {filter}
  and dead_letter_id < :before::uuid
order by dead_letter_id desc
limit :limit::integer

-- name: open
-- Open dead letters, oldest first. Those whose runs cannot start again come last, so that they never fill the limit of a redrive.
select d.*, r.workflow_version, r.priority, r.ended_at is not null as has_ended,
  w.workflow_id is not null as has_workflow
from (
  select {columns}
  from dead_letters
  where tenant_id = :tenant_id::text
    and state = 'open'
    and {filter}
  order by dead_letter_id
  limit 100000
) d
join runs r on r.run_id = d.run_id
left join workflows w on w.tenant_id = :tenant_id::text
  and w.workflow_id = d.workflow_id
order by w.workflow_id is null or r.ended_at is null, d.dead_letter_id
limit :limit::integer

-- name: count_open
-- Open dead letters by node type, up to a bound.
select node_type, count(*)::integer as count
from (
  select node_type
  from dead_letters
  where tenant_id = :tenant_id::text
    and state = 'open'
  limit 100000
) open
group by node_type

-- name: of_request
-- The dead letters that a request has closed so far.
select dead_letter_id, redrive_run_id
from dead_letters
where tenant_id = :tenant_id::text
  and closed_request_id = :request_id::text
order by dead_letter_id

-- name: close
-- Closes open dead letters: as redriven if there is a run, otherwise as discarded. Closed ones stay unchanged.
update dead_letters
set state = case when :redrive_run_id::uuid is null then 'discarded' else 'redriven' end,
  redrive_run_id = :redrive_run_id,
  closed_at = now(),
  closed_request_id = :request_id::text
where tenant_id = :tenant_id::text
  and dead_letter_id = any (:ids::uuid[])
  and state = 'open'
returning dead_letter_id

-- name: bury
-- Inserts executions that the scheduler gives up. Tenant and workflow are those of the run.
insert into dead_letters (
  dead_letter_id, tenant_id, run_id, workflow_id, node_id, iteration, attempt, node_type, deliveries, executor_id, reason,
  error_message
)
select
  d.dead_letter_id, r.tenant_id, d.run_id, r.workflow_id, d.node_id, d.iteration, d.attempt, d.node_type, d.deliveries,
  d.executor_id, d.reason, d.error_message
from unnest(
  :dead_letter_id::uuid[], :run_id::uuid[], :node_id::text[], :iteration::integer[], :attempt::integer[], :node_type::text[],
  :deliveries::integer[], :executor_id::uuid[], :reason::text[], :error_message::text[]
) as d (dead_letter_id, run_id, node_id, iteration, attempt, node_type, deliveries, executor_id, reason, error_message)
join runs r on r.run_id = d.run_id
