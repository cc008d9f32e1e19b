-- Queries about the database itself, outside of the engine's nouns.

-- name: clock
-- The clock of the database, in milliseconds since the epoch.
select extract(epoch from clock_timestamp())::double precision * 1000 as now_ms

-- name: secret
-- A key that a migration made, once for all processes of a deployment.
select value
from secrets
where name = :name::text

-- name: migrations
-- The migrations that were applied.
select name
from migrations

-- name: settings_off
-- The settings among these that are off in this session.
select name
from unnest(:names::text[]) as name
where current_setting(name) = 'off'

-- name: partitions
-- The partitions of the log.
select c.relname::text as name
from pg_inherits i
join pg_class c on c.oid = i.inhrelid
where i.inhparent = 'run_events'::regclass
order by c.relname

-- name: months
-- The monthly partitions of the log and how many events each has, by the last count of PostgreSQL. Below zero means that it never counted.
select c.relname::text as name, c.reltuples::double precision as events
from pg_inherits i
join pg_class c on c.oid = i.inhrelid
where i.inhparent = 'run_events'::regclass
  and c.relname ~ '^run_events_[0-9]{4}_[0-9]{2}$'
order by c.relname

-- name: try_lock
-- Takes a lock that one session of this schema holds, if it is free.
select pg_try_advisory_lock(hashtext(current_schema()), hashtext(:name::text)) as held

-- name: unlock
-- Gives the lock back.
select pg_advisory_unlock(hashtext(current_schema()), hashtext(:name::text)) as held

-- name: blocker
-- The lock that a backend waits for, and the session with the oldest transaction that holds it.
select (select l.relation::regclass::text from pg_locks l where l.pid = :pid::integer and not l.granted limit 1) as relation,
  a.pid, a.application_name, a.usename::text as usename, a.state,
  date_trunc('second', clock_timestamp() - a.xact_start)::text as since,
  left(regexp_replace(a.query, '\s+', ' ', 'g'), 120) as query
from unnest(pg_blocking_pids(:pid::integer)) as blocker (pid)
join pg_stat_activity a on a.pid = blocker.pid
order by a.xact_start nulls last
limit 1
