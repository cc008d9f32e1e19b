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

-- name: any_ready_command
-- Whether a waiting command may be taken now.
select id
from job
where name = :queue::text and state < 'active' and not blocked and start_after <= now()
limit 1

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
  changed_at = coalesce(:now::timestamptz, now())
where job_id = :job_id::uuid
  and claim_epoch = :claim_epoch::bigint
  and status = 'active'
returning job_id, status, command, priority

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
returning j.job_id, j.status, j.command, j.priority

-- name: command
-- A command that was claimed at least once.
select status, attempts, claim_epoch, worker_id, visible_until, error, command, priority
from workflow_jobs
where job_id = :job_id::uuid

-- name: count_commands
-- Commands that are claimed, paused or dead letters. pg-boss counts the waiting ones.
select status, count(*)::integer as count
from workflow_jobs
where status in ('active', 'paused', 'dead_letter')
group by status

-- name: forget_commands
-- Drops commands that finished long ago, and counts of runs that no command has claimed since. A count must outlive every claim made under
-- it. Otherwise an epoch would be used twice. The statement is bounded. The next call takes the rest.
with forgotten as (
  delete from workflow_jobs
  where job_id = any (array(
    select job_id
    from workflow_jobs
    where status = 'completed'
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
