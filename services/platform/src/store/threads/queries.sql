-- Threads and the order of their runs. The tick moves them with the version compared; users create, edit and delete them.

-- part: columns
t.tenant_id, t.thread_id, t.status, t.metadata::text as metadata, t.holder_run_id, t.run_count, t.state_run_id, t.forked_from,
  t.assistant_id, t.request_id, t.created_at, t.updated_at

-- part: state
t.memory::text as memory, t.memory_taint, t.output::text as output, t.state_run_id

-- name: one
-- One thread that is not being removed.
select {columns}
from threads t
where t.tenant_id = :tenant_id::text
  and t.thread_id = :thread_id::text
  and t.deleted_at is null

-- name: state
-- The state of a thread.
select {state}
from threads t
where t.tenant_id = :tenant_id::text
  and t.thread_id = :thread_id::text
  and t.deleted_at is null

-- name: page
-- Threads of a tenant in order of id.
select {columns}
from threads t
where t.tenant_id = :tenant_id::text
  and t.thread_id > :after::text
  and (cardinality(:statuses::text[]) = 0 or t.status = any (:statuses::text[]))
  and t.deleted_at is null
order by t.thread_id
limit :limit::integer

-- name: page_by_metadata
-- Threads whose metadata contains a value, in order of id. The function may read threads_metadata.
select {columns}
from pawl_threads_with(:tenant_id::text, :statuses::text[], :metadata::jsonb, :after::text, :limit::integer) as m (thread_id)
join threads t on t.tenant_id = :tenant_id::text and t.thread_id = m.thread_id
order by t.thread_id
limit :limit::integer

-- name: load
-- Threads as a scheduler decides about them.
select t.tenant_id, t.thread_id, {state}, t.version, t.status, t.holder_run_id, t.run_count, t.deleted_at is not null as is_deleted
from unnest(:tenant_id::text[], :thread_id::text[]) as c (tenant_id, thread_id)
join threads t on t.tenant_id = c.tenant_id and t.thread_id = c.thread_id

-- name: waiting
-- The runs that wait for threads, in order. The limit makes the planner probe thread_runs_waiting for each thread.
select r.tenant_id, r.thread_id, r.run_id, r.position
from unnest(:tenant_id::text[], :thread_id::text[]) as c (tenant_id, thread_id)
cross join lateral (
  select l.tenant_id, l.thread_id, l.run_id, l.position
  from thread_runs l
  where l.tenant_id = c.tenant_id
    and l.thread_id = c.thread_id
    and l.state = 'waiting'
  order by l.position
  limit 1000
) r

-- name: wait
-- The thread that a run waits for, the run that holds it, and how many wait before it. Runs whose time has not come are not in line.
select
  t.thread_id, t.holder_run_id,
  (
    select count(*)::integer
    from thread_runs b
    where b.tenant_id = r.tenant_id
      and b.thread_id = r.thread_id
      and b.state = 'waiting'
      and b.position < r.position
      and not exists (select 1 from runs d where d.run_id = b.run_id and d.start_at > now())
  ) as ahead_count
from thread_runs r
join threads t on t.tenant_id = r.tenant_id and t.thread_id = r.thread_id
where r.run_id = :run_id::uuid
  and r.state = 'waiting'

-- name: behind
-- The runs among these that wait for a thread that another run holds.
select r.run_id
from unnest(:run_ids::uuid[]) as c (run_id)
cross join lateral (
  select l.run_id, l.tenant_id, l.thread_id, l.state
  from thread_runs l
  where l.run_id = c.run_id
  limit 1
) r
join threads t on t.tenant_id = r.tenant_id and t.thread_id = r.thread_id
where r.state = 'waiting'
  and t.holder_run_id is not null

-- name: turns
-- The runs of threads after places, in the order of their turns, with how each thread is now. A thread that does not exist has no row.
-- The limit makes the planner read thread_runs_turns for each place.
select
  c.place::integer as place, t.created_at, t.holder_run_id is null as is_idle, r.run_id, r.turn, r.position
from unnest(:tenant_id::text[], :thread_id::text[], :turn::bigint[], :position::bigint[]) with ordinality
  as c (tenant_id, thread_id, turn, position, place)
join threads t on t.tenant_id = c.tenant_id and t.thread_id = c.thread_id and t.deleted_at is null
left join lateral (
  select l.run_id, l.turn, l.position
  from thread_runs l
  where l.tenant_id = c.tenant_id
    and l.thread_id = c.thread_id
    and l.turn is not null
    and (l.turn, l.position) > (c.turn, c.position)
  order by l.turn, l.position
  limit :limit::integer
) r on true
order by c.place, r.turn, r.position

-- name: present
-- The place before the run that holds a thread, or after its last run if none does.
select coalesce(h.turn, l.turn, 0) as turn, coalesce(h.position - 1, l.position, 0) as position
from threads t
left join lateral (
  select r.turn, r.position
  from thread_runs r
  where r.tenant_id = t.tenant_id
    and r.thread_id = t.thread_id
    and r.state = 'holding'
  limit 1
) h on true
left join lateral (
  select r.turn, r.position
  from thread_runs r
  where r.tenant_id = t.tenant_id
    and r.thread_id = t.thread_id
    and r.turn is not null
  order by r.turn desc, r.position desc
  limit 1
) l on true
where t.tenant_id = :tenant_id::text
  and t.thread_id = :thread_id::text
  and t.deleted_at is null

-- name: live_runs
-- The runs of a thread that wait for it or hold it.
select r.run_id
from thread_runs r
where r.tenant_id = :tenant_id::text
  and r.thread_id = :thread_id::text
  and r.state in ('waiting', 'holding')
order by r.position

-- name: move
-- Creates and changes threads, and notifies the readers of each. It fails with PW005 unless every thread has the version that the tick
-- decided on.
with c as materialized (
  select *
  from unnest(
    :tenant_id::text[], :thread_id::text[], :expected_version::bigint[], :status::text[], :holder_run_id::uuid[], :run_count::bigint[],
    :memory::text[], :memory_taint::text[], :output::text[], :state_run_id::uuid[]
  ) as n (
    tenant_id, thread_id, expected_version, status, holder_run_id, run_count, memory, memory_taint, output, state_run_id
  )
), created as (
  insert into threads (tenant_id, thread_id, status, holder_run_id, run_count, memory, memory_taint, output, state_run_id)
  select
    c.tenant_id, c.thread_id, c.status, c.holder_run_id, c.run_count, coalesce(c.memory, '{}')::json, c.memory_taint::jsonb, c.output::json,
    c.state_run_id
  from c
  where c.expected_version = 0
  order by c.tenant_id, c.thread_id
  on conflict do nothing
  returning pg_notify('pawl_threads', thread_id)
), locked as materialized (
  select t.tenant_id, t.thread_id, t.version
  from threads t
  where (t.tenant_id, t.thread_id) in (select c.tenant_id, c.thread_id from c where c.expected_version > 0)
  order by t.tenant_id, t.thread_id
  for update
), changed as (
  update threads t
  set
    version = t.version + 1,
    status = c.status,
    holder_run_id = c.holder_run_id,
    run_count = c.run_count,
    memory = coalesce(c.memory::json, t.memory),
    memory_taint = case when c.memory is null then t.memory_taint else c.memory_taint::jsonb end,
    output = coalesce(c.output::json, t.output),
    state_run_id = coalesce(c.state_run_id, t.state_run_id),
    updated_at = now()
  from c
  join locked l on l.tenant_id = c.tenant_id and l.thread_id = c.thread_id and l.version = c.expected_version
  where t.tenant_id = c.tenant_id
    and t.thread_id = c.thread_id
  returning pg_notify('pawl_threads', t.thread_id)
)
select pawl_require((select count(*) from created) + (select count(*) from changed) = (select count(*) from c), 'PW005') as held

-- name: forget_values
-- Threads whose state changes name no stored values, until the next statement names those of the new state. A value is loose until a sweep
-- finds that something names it.
with old as (
  select v.place
  from unnest(:tenant_id::text[], :thread_id::text[]) as c (tenant_id, thread_id)
  cross join lateral (
    select t.ctid as place
    from thread_values t
    where t.tenant_id = c.tenant_id
      and t.thread_id = c.thread_id
    limit 10000
  ) v
), named as (
  delete from thread_values
  where ctid = any (array(select place from old))
  returning sha256
)
update stored_values
set loose_at = coalesce(loose_at, now())
where sha256 = any (array(select sha256 from named))

-- name: name_values
-- The stored values that the states of threads name. Fails the transaction if a value does not exist.
insert into thread_values (tenant_id, thread_id, sha256)
select n.tenant_id, n.thread_id, n.sha256
from unnest(:tenant_id::text[], :thread_id::text[], :sha256::text[]) as n (tenant_id, thread_id, sha256)
order by n.sha256, n.tenant_id, n.thread_id

-- name: leave
-- Runs that no longer hold a thread or wait for it. The tick sends this before other runs take the threads.
update thread_runs r
set state = 'over', turn = coalesce(r.turn, n.turn)
from unnest(:run_id::uuid[], :turn::bigint[]) as n (run_id, turn)
where r.run_id = n.run_id

-- name: take
-- Runs that wait for a thread or hold it from now on, and the thread of each new run.
with placed as (
  insert into thread_runs as l (tenant_id, thread_id, position, run_id, state, turn)
  select n.tenant_id, n.thread_id, n.position, n.run_id, n.state, n.turn
  from unnest(:tenant_id::text[], :thread_id::text[], :position::bigint[], :run_id::uuid[], :state::text[], :turn::bigint[])
    as n (tenant_id, thread_id, position, run_id, state, turn)
  on conflict (run_id) do update set state = excluded.state, turn = coalesce(l.turn, excluded.turn)
  returning l.run_id, l.thread_id
)
update runs r
set thread_id = p.thread_id
from placed p
where r.run_id = p.run_id
  and r.thread_id is null

-- name: insert
-- A new thread. Returns no row if there is one, also one that is being removed.
insert into threads as t (tenant_id, thread_id, metadata, memory, memory_taint, output, forked_from, assistant_id, request_id)
values (
  :tenant_id::text, :thread_id::text, :metadata::jsonb, :memory::json, :memory_taint::jsonb, :output::json, :forked_from::text,
  :assistant_id::text, :request_id::text
)
on conflict do nothing
returning {columns}

-- name: update
-- The metadata and the assistant of a thread. Its version is for the tick, which reads neither.
update threads t
set
  metadata = coalesce(:metadata::jsonb, t.metadata),
  assistant_id = case when :assistant_id::text is null then t.assistant_id else nullif(:assistant_id::text, '') end,
  updated_at = now()
where t.tenant_id = :tenant_id::text
  and t.thread_id = :thread_id::text
  and t.deleted_at is null
returning {columns}

-- name: lock
-- Locks a thread, so that no tick gives it another run.
select t.thread_id
from threads t
where t.tenant_id = :tenant_id::text
  and t.thread_id = :thread_id::text
  and t.deleted_at is null
for update

-- name: mark
-- Marks a thread as deleted, and notifies the readers of the thread. A tick that decided before finds another version.
update threads t
set deleted_at = now(), version = t.version + 1
where t.tenant_id = :tenant_id::text
  and t.thread_id = :thread_id::text
returning pg_notify('pawl_threads', t.thread_id) as notified

-- name: some_runs
-- Some runs of a marked thread, without those that have a live run below them.
select r.run_id
from (
  select tenant_id, thread_id, deleted_at
  from threads
  where tenant_id = :tenant_id::text
    and thread_id = :thread_id::text
  limit 1
) t
cross join lateral (
  select l.run_id
  from thread_runs l
  where l.tenant_id = t.tenant_id
    and l.thread_id = t.thread_id
    and (select c.run_id from runs c where c.parent_run_id = l.run_id and c.ended_at is null limit 1) is null
  order by l.position
  limit :limit::integer
) r
where t.deleted_at is not null

-- name: closed
-- Marked threads, the oldest mark first.
select tenant_id, thread_id
from threads
where deleted_at is not null
  and deleted_at <= now()
order by deleted_at
limit :limit::integer

-- name: marked
-- Whether a thread is marked. Returns no row if it is removed.
select t.deleted_at is not null as is_marked
from threads t
where t.tenant_id = :tenant_id::text
  and t.thread_id = :thread_id::text

-- name: remove
-- Deletes a marked thread whose runs are deleted. The values that its memory names are loose if nothing else names them.
with gone as materialized (
  select t.tenant_id, t.thread_id
  from threads t
  where t.tenant_id = :tenant_id::text
    and t.thread_id = :thread_id::text
    and t.deleted_at is not null
    and (
      select l.run_id
      from thread_runs l
      where l.tenant_id = t.tenant_id
        and l.thread_id = t.thread_id
      limit 1
    ) is null
  for update
), named as (
  delete from thread_values v
  where v.tenant_id = (select tenant_id from gone)
    and v.thread_id = (select thread_id from gone)
  returning v.sha256
), loosened as (
  update stored_values
  set loose_at = now()
  where sha256 = any (array(select sha256 from named))
)
delete from threads t
where t.tenant_id = (select tenant_id from gone)
  and t.thread_id = (select thread_id from gone)
