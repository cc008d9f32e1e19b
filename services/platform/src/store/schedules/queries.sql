-- Schedules. Each row with a next occurrence names its alarm, a job of pg-boss (queue/boss-alarms.ts). Both change in one transaction.

-- part: spec
'workflowId', s.workflow_id, 'workflowVersion', s.workflow_version, 'expression', s.expression, 'timeZone', s.time_zone,
    'priority', s.priority, 'missed', s.missed, 'overlap', s.overlap

-- part: state
s.tenant_id, s.schedule_id, s.version, s.next_at, s.last_at, s.last_run_id, s.last_error, s.started_count, s.skipped_count,
  s.created_at, s.updated_at,
  case when s.paused_at is not null then
    json_build_object(
      'at', floor(extract(epoch from s.paused_at) * 1000), 'by', s.paused_by, 'reason', s.pause_reason
    )
  end as pause

-- part: columns
json_build_object({spec}, 'input', s.input) as spec, {state}

-- part: listed
-- Lists leave the input out.
json_build_object({spec}, 'input', '') as spec, {state}

-- part: row
{columns}, s.alarm_id, s.request_id, s.request_hash

-- name: one
-- One schedule.
select {columns}
from schedules s
where tenant_id = :tenant_id::text
  and schedule_id = :schedule_id::text

-- name: page
-- Schedules in order of id.
select {listed}
from schedules s
where tenant_id = :tenant_id::text
  and schedule_id > :after::text
order by schedule_id
limit :limit::integer

-- name: page_of_workflow
-- Schedules of one workflow in order of id.
select {listed}
from schedules s
where tenant_id = :tenant_id::text
  and workflow_id = :workflow_id::text
  and schedule_id > :after::text
order by schedule_id
limit :limit::integer

-- name: lock
-- Locks a schedule until the transaction ends.
select {row}
from schedules s
where tenant_id = :tenant_id::text
  and schedule_id = :schedule_id::text
for update

-- name: lock_due
-- The schedules of alarms that went off. An alarm that its schedule no longer names gives no row. It never waits for a lock, because an
-- edit that holds the row may wait for the alarm. This transaction then fails (55P03) and runs again.
select {row},
  coalesce((select r.ended_at is null from runs r where r.run_id = s.last_run_id), false) as is_last_run_live,
  extract(epoch from now())::double precision * 1000 as now_ms
from unnest(:tenant_id::text[], :schedule_id::text[], :alarm_id::uuid[]) as a (tenant_id, schedule_id, alarm_id)
join schedules s
  on s.tenant_id = a.tenant_id
  and s.schedule_id = a.schedule_id
  and s.alarm_id = a.alarm_id
for update of s nowait

-- name: insert
-- A new schedule. An id that is taken violates the primary key.
insert into schedules as s (
  tenant_id, schedule_id, workflow_id, workflow_version, expression, time_zone, input, priority, missed, overlap,
  request_id, request_hash, next_at, alarm_id
)
values (
  :tenant_id::text, :schedule_id::text, :workflow_id::text, :workflow_version::integer, :expression::text, :time_zone::text,
  :input::text, :priority::integer, :missed::text, :overlap::text,
  :request_id::text, :request_hash::text, to_timestamp(:next_at::double precision / 1000.0), :alarm_id::uuid
)
returning {row}

-- name: edit
-- Replaces the parts that a user chooses, and with them the next occurrence.
update schedules s
set workflow_id = :workflow_id::text,
  workflow_version = :workflow_version::integer,
  expression = :expression::text,
  time_zone = :time_zone::text,
  input = :input::text,
  priority = :priority::integer,
  missed = :missed::text,
  overlap = :overlap::text,
  request_id = :request_id::text,
  request_hash = :request_hash::text,
  next_at = to_timestamp(:next_at::double precision / 1000.0),
  alarm_id = :alarm_id::uuid,
  version = s.version + 1,
  updated_at = now()
where tenant_id = :tenant_id::text
  and schedule_id = :schedule_id::text
returning {row}

-- name: pause
-- Pauses a schedule: it has no next occurrence until a user resumes it.
update schedules s
set paused_at = now(),
  paused_by = :by::text,
  pause_reason = :reason::text,
  next_at = null,
  alarm_id = null,
  updated_at = now()
where tenant_id = :tenant_id::text
  and schedule_id = :schedule_id::text
returning {row}

-- name: resume
-- Resumes a schedule at its next occurrence.
update schedules s
set paused_at = null,
  paused_by = '',
  pause_reason = '',
  next_at = to_timestamp(:next_at::double precision / 1000.0),
  alarm_id = :alarm_id::uuid,
  updated_at = now()
where tenant_id = :tenant_id::text
  and schedule_id = :schedule_id::text
returning {row}

-- name: move
-- Advances schedules after their alarms went off. The transaction has locked their rows.
update schedules s
set next_at = to_timestamp(m.next_at / 1000.0),
  alarm_id = m.alarm_id,
  last_at = to_timestamp(m.last_at / 1000.0),
  last_run_id = coalesce(m.run_id, s.last_run_id),
  last_error = m.last_error,
  started_count = s.started_count + m.started_count,
  skipped_count = s.skipped_count + m.skipped_count
from unnest(
  :tenant_id::text[], :schedule_id::text[], :next_at::double precision[], :alarm_id::uuid[], :last_at::double precision[],
  :run_id::uuid[], :last_error::text[], :started_count::bigint[], :skipped_count::bigint[]
) as m (tenant_id, schedule_id, next_at, alarm_id, last_at, run_id, last_error, started_count, skipped_count)
where s.tenant_id = m.tenant_id
  and s.schedule_id = m.schedule_id

-- name: delete
-- Removes a schedule. The runs that it started stay.
delete from schedules
where tenant_id = :tenant_id::text
  and schedule_id = :schedule_id::text
