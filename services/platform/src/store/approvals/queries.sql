-- Approvals: questions to people. Empty parameters of a page mean no filter.

-- part: columns
approval_id, run_id, workflow_id, node_id, iteration, reason, message, details::text as details_json, assignees, state, opened_at,
  deadline_at, closed_at, decided_by, comment, response::text as response_json

-- part: in_states
and (cardinality(:states::text[]) = 0 or state = any (:states))

-- part: page
and (:workflow_id::text = '' or workflow_id = :workflow_id)
  and (:assignee::text = '' or assignees @> array[:assignee::text])
  and approval_id < :before::uuid
order by approval_id desc
limit :limit::integer

-- name: one
-- One approval.
select {columns}
from approvals
where approval_id = :approval_id::uuid
  and tenant_id = :tenant_id::text

-- name: page_of_run
-- The approvals of one run, newest first.
select {columns}
from approvals
where tenant_id = :tenant_id::text
  and run_id = :run_id::uuid
  {in_states}
{page}

-- name: page_of_open
-- Open approvals, newest first. The partial index approvals_open holds no closed ones.
select {columns}
from approvals
where tenant_id = :tenant_id::text
  and state = 'open'
{page}

-- name: page
-- Approvals, newest first.
select {columns}
from approvals
where tenant_id = :tenant_id::text
  {in_states}
{page}

-- name: count_open
-- Approvals that wait for a person, up to a bound.
select count(*)::integer as count
from (
  select 1
  from approvals
  where tenant_id = :tenant_id::text
    and state = 'open'
  limit 100000
) open

-- name: due
-- Open approvals with a deadline, the soonest first, by the clock of the database. Those of a run in quarantine wait until it is out.
select a.approval_id, a.run_id, a.node_id, a.iteration,
  extract(epoch from (a.deadline_at - now()))::float8 * 1000 as due_in_ms
from approvals a
where a.state = 'open'
  and a.deadline_at is not null
  and (select r.quarantined_at from runs r where r.run_id = a.run_id) is null
order by a.deadline_at
limit :limit::integer

-- name: place
-- The execution that an approval belongs to, and the definition of its run.
select a.approval_id, a.run_id, a.node_id, a.iteration, a.reason, a.state, r.definition_id
from approvals a
join runs r on r.run_id = a.run_id
where a.approval_id = :approval_id::uuid

-- name: open
-- Opens approvals. The tick appends their events in the same transaction. Tenant and workflow are those of the run.
insert into approvals (
  approval_id, tenant_id, run_id, workflow_id, node_id, iteration, reason, message, details, assignees, deadline_at
)
select
  a.approval_id, r.tenant_id, a.run_id, r.workflow_id, a.node_id, a.iteration, a.reason, a.message, a.details,
  array(select jsonb_array_elements_text(a.assignees)), now() + a.deadline_ms * interval '1 millisecond'
from unnest(
  :approval_id::uuid[], :run_id::uuid[], :node_id::text[], :iteration::integer[], :reason::text[], :message::text[],
  :details_json::json[], :assignees::jsonb[], :deadline_ms::double precision[]
) as a (approval_id, run_id, node_id, iteration, reason, message, details, assignees, deadline_ms)
join runs r on r.run_id = a.run_id

-- name: close
-- Closes approvals. An approval that is closed already stays as it is.
update approvals a
set state = c.state, closed_at = now(), decided_by = c.decided_by, comment = c.comment, response = c.response
from unnest(:approval_id::uuid[], :state::text[], :decided_by::text[], :comment::text[], :response_json::json[])
  as c (approval_id, state, decided_by, comment, response)
where a.approval_id = any (:approval_id)
  and a.approval_id = c.approval_id
  and a.closed_at is null
