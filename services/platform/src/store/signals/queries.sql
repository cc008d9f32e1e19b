-- Waits for signals. A row exists while its execution waits.

-- name: due
-- Waits with a deadline, the soonest first, by the clock of the database. Those of a run in quarantine wait until it is out.
select w.run_id, w.node_id, w.iteration,
  extract(epoch from (w.deadline_at - now()))::float8 * 1000 as due_in_ms
from signal_waits w
where w.deadline_at is not null
  and (select r.quarantined_at from runs r where r.run_id = w.run_id) is null
order by w.deadline_at
limit :limit::integer

-- name: count_open
-- Executions that wait for a signal, up to a bound.
select count(*)::integer as count
from (
  select 1
  from signal_waits
  where tenant_id = :tenant_id::text
  limit 100000
) open

-- name: open
-- Opens waits. The tick appends their events in the same transaction. The tenant is that of the run.
insert into signal_waits (run_id, node_id, iteration, tenant_id, name, deadline_at)
select w.run_id, w.node_id, w.iteration, r.tenant_id, w.name, now() + w.timeout_ms * interval '1 millisecond'
from unnest(
  :run_id::uuid[], :node_id::text[], :iteration::integer[], :name::text[], :timeout_ms::double precision[]
) as w (run_id, node_id, iteration, name, timeout_ms)
join runs r on r.run_id = w.run_id

-- name: close
-- Closes waits.
delete from signal_waits s
using unnest(:run_id::uuid[], :node_id::text[], :iteration::integer[]) as w (run_id, node_id, iteration)
where s.run_id = any (:run_id)
  and s.run_id = w.run_id
  and s.node_id = w.node_id
  and s.iteration = w.iteration
