-- The statements of recovery: snapshots, quarantine, and checks of runs that may be stuck.

-- name: quarantine
-- Puts a live run into quarantine. The new version fails the compare-and-swap of every scheduler that planned on the old one. The run's
-- leases end, so executors' messages about them are stale. Its slots become free, and the next scheduler that surveys the queues gives them
-- to other executions.
with marked as (
  update runs
  set
    version = version + 1,
    quarantined_at = now(),
    quarantine_reason = :reason::text,
    quarantine_detail = :detail::text
  where run_id = :run_id::uuid
    and ended_at is null
    and quarantined_at is null
  returning run_id
), ended as (
  delete from leases
  where run_id = (select run_id from marked)
), freed as (
  delete from slots
  where run_id = (select run_id from marked)
    and state <> 'cooling'
  returning slot_key
), woken as (
  update slot_keys
  set wake_at = now()
  where slot_key = any (array(select slot_key from freed))
)
select run_id
from marked

-- name: release
-- Takes a run out of quarantine. Deletes its snapshot, because the fault may be in it.
with marked as (
  update runs
  set
    version = version + 1,
    quarantined_at = null,
    quarantine_reason = null,
    quarantine_detail = null
  where run_id = :run_id::uuid
    and quarantined_at is not null
  returning run_id
), dropped as (
  delete from run_snapshots
  where run_id = (select run_id from marked)
)
select run_id
from marked

-- name: save_snapshot
-- Stores one snapshot per run, the newest. Ignores a snapshot that is ahead of its log, or whose run has ended or is in quarantine.
insert into run_snapshots (run_id, seq, format, digest, body)
select run_id, :seq::bigint, :format::integer, :digest::bigint, :body::text
from runs
where run_id = :run_id::uuid
  and ended_at is null
  and quarantined_at is null
  and last_seq >= :seq::bigint
on conflict (run_id) do update
set
  seq = excluded.seq,
  format = excluded.format,
  digest = excluded.digest,
  body = excluded.body,
  written_at = now()
where run_snapshots.seq < excluded.seq
  or run_snapshots.format <> excluded.format

-- name: drop_snapshot
-- Deletes the snapshot of a run.
delete from run_snapshots
where run_id = :run_id::uuid

-- name: quiet_runs
-- A page of a walk over live runs that neither wait nor are paused, in the order of runs_deadline. It shows which of them got no event for
-- a while: one probe of the log per run. The limit bounds the runs that it reads, not the runs that it finds.
select
  r.run_id,
  r.deadline_at::text as deadline,
  not exists (
    select 1
    from run_events e
    where e.run_id = r.run_id
      and e.seq = r.last_seq
      and e.at > now() - :quiet_ms::double precision * interval '1 millisecond'
  ) and r.quarantined_at is null as is_quiet
from (
  select run_id, deadline_at, last_seq, quarantined_at
  from runs
  where ended_at is null
    and status not in ('waiting', 'paused')
    and deadline_at >= :after_deadline::timestamptz
    and (deadline_at, run_id) > (:after_deadline::timestamptz, :after_run_id::uuid)
  order by deadline_at, run_id
  limit :limit::integer
) r
order by r.deadline_at, r.run_id

-- name: locked_runs
-- The runs among these whose row another session has locked. It waits for no lock: the answer is the rows that `skip locked` skips.
with free as materialized (
  select run_id
  from runs
  where run_id = any (:run_ids::uuid[])
  for no key update skip locked
)
select r.run_id
from runs r
where r.run_id = any (:run_ids::uuid[])
  and r.run_id <> all (array(select run_id from free))

-- name: torn_runs
-- The runs among these with events behind their last seq. The engine writes both in one transaction, so such an event is foreign. It makes
-- the store refuse every further event of its run.
select r.run_id, e.seq as stray_seq
from runs r,
  lateral (
    select seq
    from run_events
    where run_id = r.run_id
      and seq > r.last_seq
    order by seq
    limit 1
  ) e
where r.run_id = any (:run_ids::uuid[])

-- name: probe
-- Writes an event of no run, to test whether the database accepts writes. The same transaction deletes it.
insert into run_events (run_id, seq, type, node_id, iteration, attempt, epoch, ordinal, payload)
values (:run_id::uuid, 1, 'run.started', '', 0, 0, 0, 0, '{}')

-- name: end_probe
-- Deletes the event of a probe.
delete from run_events
where run_id = :run_id::uuid
