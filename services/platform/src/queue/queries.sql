-- The queues. The tables `job` and `queue` are pg-boss's, found by the search path. `workflow_jobs` and `run_claims` are ours. A parameter
-- `now` is null for the clock of the database.

-- name: depths
-- For each queue: how many jobs wait, when the next is due, how long the oldest has waited, and the rank of the first. One index probe for
-- each, and a count that stops at a bound. Jobs without a delay come first in the order of `start_after`, the oldest of them first. A job
-- whose delay is over may have waited longer, so the first of those is read too.
select
  n.node_type,
  extract(epoch from (f.start_after - now()))::float8 * 1000 as due_in_ms,
  greatest(
    extract(epoch from (now() - greatest(f.start_after, f.created_on)))::float8 * 1000,
    (select extract(epoch from (now() - j.start_after))::float8 * 1000
     from job j
     where j.name = n.queue and j.state < 'active' and j.start_after > now() - :never_later::interval
     order by j.start_after
     limit 1)
  ) as age_ms,
  (select j.priority
   from job j
   where j.name = n.queue and j.state < 'active' and not j.blocked
   order by j.priority desc, j.created_on
   limit 1) as first_priority,
  (select count(*)::integer
   from (select 1 from job j where j.name = n.queue and j.state < 'active' limit 100000) waiting) as waiting
from unnest(:node_type::text[], :queue::text[]) as n (node_type, queue)
left join lateral (
  select j.start_after, j.created_on
  from job j
  where j.name = n.queue and j.state < 'active'
  order by j.start_after
  limit 1
) f on true

-- name: count_waiting
-- Waiting jobs of every queue with this prefix, up to a bound. Queues of the engine itself begin with an underscore, as no node
-- type does.
select q.name, (
  select count(*)::integer
  from (select 1 from job j where j.name = q.name and j.state < 'active' limit 100000) waiting
) as count
from queue q
where starts_with(q.name, :prefix::text)
  and not starts_with(q.name, :prefix::text || '_')

-- name: wait_ages
-- How long the due jobs of each queue have waited: the longest and the median, for each queue and for all, whose name is null. It counts up to
-- a bound.
select w.name, max(w.age_ms) as oldest_ms, percentile_cont(0.5) within group (order by w.age_ms) as median_ms
from (
  select q.name, extract(epoch from now() - j.since)::float8 * 1000 as age_ms
  from queue q
  cross join lateral (
    select greatest(d.start_after, d.created_on) as since
    from job d
    where d.name = q.name and d.state < 'active' and d.start_after <= now()
    limit 100000
  ) j
  where starts_with(q.name, :prefix::text)
    and not starts_with(q.name, :prefix::text || '_')
) w
group by grouping sets ((w.name), ())

-- name: count_ahead
-- How many jobs of a queue come before a given job, up to a bound. pg-boss takes higher priorities first. All older jobs of the same
-- priority count.
select count(*)::integer as ahead
from (
  select 1
  from job j
  where j.name = :queue::text
    and j.state < 'active'
    and j.start_after <= now()
    and j.priority > :behind::integer
    and (j.priority > :first::integer or j.created_on < to_timestamp(:queued_at::double precision / 1000))
  limit :limit::integer
) waiting

-- name: missing
-- The jobs among these that are in no queue. One probe of pg-boss's primary key per job. An anti-join might walk all jobs.
select n.place
from unnest(:queue::text[], :id::uuid[]) with ordinality as n (queue, id, place)
where (
  select 1
  from job j
  where j.name = n.queue
    and j.id = n.id
    and j.state < 'completed'
  limit 1
) is null

-- name: drop
-- Removes waiting jobs, and skips those that another transaction has locked. An id is in the queue of one type only, so names and
-- ids need no pairing. Primary key (name, id): the ids bound the work.
delete from job
where name = any (:queues::text[])
  and id = any (array(
    select id
    from job
    where name = any (:queues::text[])
      and id = any (:ids::uuid[])
      and state < 'active'
    for update skip locked
  ))

-- name: next_command
-- How long until a waiting command may be taken: 0 if one may be taken now, null if none waits. The second probe reads all waiting commands, and
-- runs only if none of them may be taken.
select coalesce(
  (select 0::float8 from job where name = :queue::text and state < 'active' and not blocked and start_after <= now() limit 1),
  (select extract(epoch from min(start_after) - now())::float8 * 1000
   from job
   where name = :queue::text and state < 'active' and not blocked)
) as due_in_ms

-- name: drop_command
-- Takes a waiting command out of pg-boss. It waits for a worker that claims the command now, and finds nothing if the claim succeeds.
delete from job
where name = :queue::text
  and id = :id::uuid
  and state < 'active'
  and data ->> 'job_id' is null
returning data, priority, created_on

-- name: drop_resent_command
-- The same for a command that waits again. It skips one that a worker claims now: the caller locks our row next, and the worker would wait
-- for that row.
delete from job
where name = :queue::text
  and id = (
    select j.id
    from job j
    where j.name = :queue::text
      and j.id = :id::uuid
      and j.state < 'active'
    for update skip locked
  )

-- name: count_waiting_commands
-- Commands that wait.
select count(*)::integer as count
from job
where name = :queue::text and state < 'active' and not blocked

-- name: claim_command
-- Claims a command for a worker under the run's next epoch. Returns no row if a worker holds the job or it is over. The run's epoch then
-- stays. Locks the run's count before the job, as every statement does.
with counted as (
  insert into run_claims (run_id, epoch, claimed_at)
  select :run_id::uuid, 1, coalesce(:now::timestamptz, now())
  where not exists (
    select 1
    from workflow_jobs j
    where j.job_id = :job_id::uuid
      and j.status <> 'waiting'
  )
  on conflict (run_id) do update
  set epoch = run_claims.epoch + 1, claimed_at = excluded.claimed_at
  returning epoch, claimed_at
)
insert into workflow_jobs (
  job_id, run_id, command, priority, max_attempts, status, attempts, worker_id, claim_epoch, visible_until, enqueued_at,
  changed_at
)
select
  :job_id::uuid, :run_id::uuid, :command::jsonb, :priority::integer, :max_attempts::integer, 'active', 0, :worker_id::text, c.epoch,
  c.claimed_at + :visibility_ms::float8 * interval '1 millisecond', :enqueued_at::timestamptz, c.claimed_at
from counted c
on conflict (run_id, job_id) do update
set status = 'active', worker_id = excluded.worker_id, claim_epoch = excluded.claim_epoch,
  visible_until = excluded.visible_until, is_let_go = false, changed_at = excluded.changed_at
where workflow_jobs.status = 'waiting'
returning attempts, claim_epoch, visible_until

-- name: bury_command
-- A job whose data is not a command is a dead letter at once, because no delivery can succeed. Its own id replaces the run's.
insert into workflow_jobs (
  job_id, run_id, command, priority, max_attempts, status, attempts, worker_id, claim_epoch, visible_until, error, enqueued_at,
  changed_at
)
values (
  :job_id::uuid, :job_id::uuid, coalesce(:command::jsonb, 'null'), :priority::integer, 1, 'dead_letter', 1, :worker_id::text, 0,
  coalesce(:now::timestamptz, now()), :error::text, :enqueued_at::timestamptz, coalesce(:now::timestamptz, now())
)
on conflict (run_id, job_id) do nothing

-- name: put_cancelled_command
-- Keeps a command that was cancelled before its first claim.
insert into workflow_jobs (
  job_id, run_id, command, priority, max_attempts, status, attempts, worker_id, claim_epoch, visible_until, enqueued_at, changed_at
)
values (
  :job_id::uuid, :run_id::uuid, :command::jsonb, :priority::integer, :max_attempts::integer, 'cancelled', 0, '', 0,
  coalesce(:now::timestamptz, now()), :enqueued_at::timestamptz, coalesce(:now::timestamptz, now())
)
on conflict (run_id, job_id) do nothing

-- name: close_command
-- Ends a command that no worker holds: a waiting one is cancelled, a dead letter is discarded.
update workflow_jobs
set status = :status::text, changed_at = coalesce(:now::timestamptz, now())
where job_id = :job_id::uuid
  and status = :from::text
returning status

-- name: redrive_command
-- A dead letter waits again, with all its attempts. The command of a job whose data was none stays a dead letter.
update workflow_jobs
set status = 'waiting', attempts = 0, redrive_request = :redrive_request::text,
  visible_until = coalesce(:now::timestamptz, now()), changed_at = coalesce(:now::timestamptz, now())
where job_id = :job_id::uuid
  and status = 'dead_letter'
  and claim_epoch > 0
returning job_id, status, command, priority, claim_epoch

-- name: settle_command
-- Settles a command that is done, or that waits for a person. No worker gets it again, and no delivery counts.
update workflow_jobs
set status = :status::text, changed_at = coalesce(:now::timestamptz, now())
where job_id = :job_id::uuid
  and claim_epoch = :claim_epoch::bigint
  and status = any (:from::text[])
returning status

-- name: nack_command
-- Records a failed delivery. The command waits again, or is a dead letter after its last attempt.
update workflow_jobs
set attempts = attempts + 1,
  status = case when attempts + 1 >= max_attempts then 'dead_letter' else 'waiting' end,
  error = :error::text,
  -- When a command that waits again is due.
  visible_until = coalesce(:now::timestamptz, now()) + :after_ms::float8 * interval '1 millisecond',
  changed_at = coalesce(:now::timestamptz, now())
where job_id = :job_id::uuid
  and claim_epoch = :claim_epoch::bigint
  and status = 'active'
returning job_id, status, command, priority, claim_epoch

-- name: extend_command
-- Extends a claim to this time from now. 0 ms gives the job back.
update workflow_jobs
set visible_until = coalesce(:now::timestamptz, now()) + :extend_ms::float8 * interval '1 millisecond', is_let_go =
  :extend_ms::float8 = 0
where job_id = :job_id::uuid
  and claim_epoch = :claim_epoch::bigint
  and status = 'active'
returning visible_until

-- name: any_expired_command
-- Whether a claim has ended: one probe of an index, for callers that poll.
select job_id
from workflow_jobs
where status = 'active'
  and visible_until <= coalesce(:now::timestamptz, now())
limit 1

-- name: reclaim_command
-- Takes back the command whose claim ended first. Callers at the same time take different ones. A delivery counts unless its worker gave it
-- back.
update workflow_jobs j
set attempts = j.attempts + (not j.is_let_go)::integer,
  status = case when j.attempts + (not j.is_let_go)::integer >= j.max_attempts then 'dead_letter' else 'waiting' end,
  error = case when j.is_let_go then j.error else :error::text end,
  changed_at = coalesce(:now::timestamptz, now())
where j.job_id = (
  select job_id
  from workflow_jobs
  where status = 'active'
    and visible_until <= coalesce(:now::timestamptz, now())
  order by visible_until, job_id
  limit 1
  for update skip locked
)
returning j.job_id, j.status, j.command, j.priority, j.claim_epoch

-- part: ours
j.job_id, j.status, j.attempts, j.claim_epoch, j.worker_id, j.visible_until, j.error, j.command, j.priority, j.redrive_request,
(extract(epoch from j.enqueued_at) * 1000000)::bigint as enqueued_us

-- part: unclaimed
b.id as job_id, 'waiting' as status, 0 as attempts, 0::bigint as claim_epoch, '' as worker_id,
greatest(b.start_after, b.created_on) as visible_until, null::text as error, b.data as command, 0 - b.priority as priority,
null::text as redrive_request, (extract(epoch from b.created_on) * 1000000)::bigint as enqueued_us

-- name: command
-- A command: our row, or the job of one that was never claimed. One statement, so a claim between two reads hides none.
select {ours}
from workflow_jobs j
where j.job_id = :job_id::uuid
union all
select {unclaimed}
from job b
where b.name = :queue::text
  and b.id = :job_id::uuid
  and b.state < 'active'
  and b.data ->> 'job_id' is null
  and not exists (select from workflow_jobs j where j.job_id = b.id)

-- name: list_commands
-- Commands of these statuses behind a place, the newest first. pg-boss has those that were never claimed.
select c.job_id, c.status, c.attempts, c.claim_epoch, c.worker_id, c.visible_until, c.error, c.command, c.priority, c.redrive_request,
  c.enqueued_us
from (
  select f.*
  from unnest(:statuses::text[]) s (status)
  cross join lateral (
    select {ours}
    from workflow_jobs j
    where j.status = s.status
      and (j.enqueued_at, j.job_id) < ('epoch'::timestamptz + :after_us::bigint * interval '1 microsecond', :after_id::uuid)
      and coalesce(j.command ->> 'tenant_id', :default_tenant::text) = :tenant_id::text
    order by j.enqueued_at desc, j.job_id desc
    limit :limit::integer
  ) f
  union all
  select w.*
  from (
    select {unclaimed}
    from job b
    where 'waiting' = any (:statuses::text[])
      and b.name = :queue::text
      and b.state < 'active'
      and b.data ->> 'job_id' is null
      and (b.created_on, b.id) < ('epoch'::timestamptz + :after_us::bigint * interval '1 microsecond', :after_id::uuid)
      and coalesce(b.data ->> 'tenant_id', :default_tenant::text) = :tenant_id::text
      and not exists (select from workflow_jobs j where j.job_id = b.id)
    order by b.created_on desc, b.id desc
    limit :limit::integer
  ) w
) c
order by c.enqueued_us desc, c.job_id desc
limit :limit::integer

-- name: count_commands
-- Commands that are claimed, paused or dead letters. pg-boss counts the waiting ones.
select status, count(*)::integer as count
from workflow_jobs
where status in ('active', 'paused', 'dead_letter')
group by status

-- name: forget_commands
-- Drops commands that ended long ago, and counts of runs that no command has claimed since. A count must outlive every claim made under
-- it. Otherwise an epoch would be used twice. The statement is bounded. The next call takes the rest.
with forgotten as (
  delete from workflow_jobs
  where job_id = any (array(
    select job_id
    from workflow_jobs
    where status in ('completed', 'cancelled', 'discarded')
      and changed_at < now() - :older_than_ms::float8 * interval '1 millisecond'
    limit 1000
  ))
)
delete from run_claims
where run_id = any (array(
  select c.run_id
  from run_claims c
  where c.claimed_at < now() - 2 * :older_than_ms::float8 * interval '1 millisecond'
    and (select count(*) from workflow_jobs j where j.run_id = c.run_id) = 0
  limit 1000
))
