-- Pauses of workflows and queues. Every change of them raises the epoch, which ticks compare (pauses.ts). There are few rows.

-- part: columns
p.scope, p.tenant_id, p.name, p.state, p.epoch, p.paused_by as by, p.reason, p.since, p.resumed_by, p.resume_reason

-- name: all
-- All pauses, the epoch, and the events that receivers of webhooks get of every run. Without pauses, one row has the others alone.
select e.epoch as current_epoch, {columns},
  coalesce((
    select array_agg(distinct s.event)
    from (select unnest(w.events) as event from webhook_endpoints w where w.disabled_reason is null and not w.by_reference) s
  ), '{}') as webhook_events
from pause_epoch e
left join pauses p
  on p.scope in ('workflow', 'queue')
where e.is_only
order by p.scope, p.tenant_id, p.name

-- name: one
-- The pause of a workflow or queue.
select {columns}
from pauses p
where scope = :scope::text
  and tenant_id = :tenant_id::text
  and name = :name::text

-- name: lock_claims
-- Takes a lock that conflicts with every writer of leases and with other pauses, and with no reader.
lock table leases in share row exclusive mode

-- name: raise_epoch
-- The next epoch.
update pause_epoch
set epoch = epoch + 1
where is_only
returning epoch, pg_notify('pawl_pauses', epoch::text)

-- name: insert
-- Pauses a workflow or queue, also while it is resuming. Returns no row if it is already paused.
insert into pauses as p (scope, tenant_id, name, state, epoch, paused_by, reason)
values (:scope::text, :tenant_id::text, :name::text, :state::text, :epoch::bigint, :by::text, :reason::text)
on conflict (scope, tenant_id, name) do update
set state = excluded.state,
  epoch = excluded.epoch,
  paused_by = excluded.paused_by,
  reason = excluded.reason,
  since = now(),
  resumed_by = '',
  resume_reason = '',
  tended_at = now()
where p.state = 'resuming'
returning {columns}

-- name: resume_queue
-- Resumes a queue.
delete from pauses p
where scope = 'queue'
  and tenant_id = :tenant_id::text
  and name = :name::text
returning {columns}

-- name: resume_workflow
-- Resumes a workflow. New runs start from now on. The runs that the pause holds have not followed yet.
update pauses p
set state = 'resuming',
  epoch = :epoch::bigint,
  resumed_by = :by::text,
  resume_reason = :reason::text,
  tended_at = now()
where scope = 'workflow'
  and tenant_id = :tenant_id::text
  and name = :name::text
  and state <> 'resuming'
returning {columns}

-- name: take_unsettled
-- Takes workflows whose runs have not all followed, and that no scheduler has worked on for a while. The caller has them for the same time.
update pauses p
set tended_at = now()
where scope = 'workflow'
  and state <> 'paused'
  and tended_at < now() - :untended_ms::double precision * interval '1 millisecond'
returning {columns}

-- part: at_epoch
where scope = 'workflow'
  and tenant_id = :tenant_id::text
  and name = :name::text
  and epoch = :epoch::bigint

-- name: tend
-- Records that a scheduler works on a pause. Returns no row if the pause has changed since.
update pauses
set tended_at = now()
{at_epoch}
returning epoch

-- name: settle
-- All runs of a workflow have paused. Changes nothing if the pause has changed since.
update pauses
set state = 'paused'
{at_epoch}
  and state = 'pausing'

-- name: forget
-- All runs of a workflow have resumed. Changes nothing if the pause has changed since.
delete from pauses
{at_epoch}
  and state = 'resuming'

-- name: drop_of_workflow
-- Deletes the pause of a removed workflow, so that a new workflow with the same id does not begin paused.
delete from pauses
where scope = 'workflow'
  and tenant_id = :tenant_id::text
  and name = :workflow_id::text

-- part: waiting
select run_id
  from runs
  where tenant_id = :tenant_id::text
    and workflow_id = :name::text
    and ended_at is null
    and status in ('waiting', 'paused')
    and quarantined_at is null
    and run_id > :after::uuid

-- name: runs_to_pause
-- Live runs of a workflow that are not paused, in order of id: a page of a walk. Two small partial indexes hold all live runs:
-- runs_deadline holds those whose deadline counts, runs_waiting holds those that wait or are paused.
select run_id
from (
  select run_id
  from runs
  where tenant_id = :tenant_id::text
    and workflow_id = :name::text
    and ended_at is null
    and status not in ('waiting', 'paused')
    and quarantined_at is null
    and run_id > :after::uuid
  union all
  {waiting}
    and status = 'waiting'
) live
order by run_id
limit :limit::integer

-- name: runs_to_resume
-- Paused runs of a workflow in order of id, whatever paused them. One page, read from the index runs_waiting.
{waiting}
    and status = 'paused'
order by run_id
limit :limit::integer
