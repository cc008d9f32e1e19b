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
