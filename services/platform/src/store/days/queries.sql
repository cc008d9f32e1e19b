-- Daily budgets. The tick changes them; days.ts has the order of the locks. The gateway lists them.

-- name: lock
-- Locks the rows of days in order. A row without a day is that of the present day, for a request: it is created if it is missing. A settlement
-- creates no row.
with asked as (
  select n.tenant_id, n.workflow_id, coalesce(n.day::date, (now() at time zone 'utc')::date) as day, bool_or(n.day is null) as is_request
  from unnest(:tenant_id::text[], :workflow_id::text[], :day::text[]) as n (tenant_id, workflow_id, day)
  group by 1, 2, 3
)
insert into day_budgets (tenant_id, workflow_id, day)
select a.tenant_id, a.workflow_id, a.day
from asked a
where a.is_request
  or (
    select true
    from day_budgets b
    where b.tenant_id = a.tenant_id
      and b.workflow_id = a.workflow_id
      and b.day = a.day
  )
order by a.tenant_id, a.workflow_id, a.day
on conflict (tenant_id, workflow_id, day) do update
set tenant_id = excluded.tenant_id

-- name: forget
-- Deletes days of these workflows that are older than two months. A run that ends later finds no row, and settles nothing.
delete from day_budgets b
using unnest(:tenant_id::text[], :workflow_id::text[]) as n (tenant_id, workflow_id)
where b.tenant_id = n.tenant_id
  and b.workflow_id = n.workflow_id
  and b.day < (now() at time zone 'utc')::date - 62

-- name: settle
-- Gives back what a run reserved, and counts what it used. Another transaction may have deleted the old day before the lock above, which then
-- made an empty row: the row does not hold the reservation, and stays as it is.
update day_budgets b
set tokens_reserved = b.tokens_reserved - :tokens_freed::bigint,
  tokens_spent = b.tokens_spent + :tokens_used::bigint,
  cost_reserved = b.cost_reserved - :cost_freed::bigint,
  cost_spent = b.cost_spent + :cost_used::bigint,
  executions_reserved = b.executions_reserved - :executions_freed::bigint,
  executions_spent = b.executions_spent + :executions_used::bigint
where b.tenant_id = :tenant_id::text
  and b.workflow_id = :workflow_id::text
  and b.day = :day::text::date
  and b.tokens_reserved >= :tokens_freed::bigint
  and b.cost_reserved >= :cost_freed::bigint
  and b.executions_reserved >= :executions_freed::bigint

-- name: reserve
-- Reserves for one run of the present day, whose row the caller has locked, if its limits have room. Returns the row as it was before.
with granted as (
  update day_budgets b
  set tokens_reserved = b.tokens_reserved + :tokens::bigint,
    cost_reserved = b.cost_reserved + :cost::bigint,
    executions_reserved = b.executions_reserved + :executions::bigint
  where b.tenant_id = :tenant_id::text
    and b.workflow_id = :workflow_id::text
    and b.day = (now() at time zone 'utc')::date
    and b.tokens_reserved + b.tokens_spent + :tokens::bigint <= :tokens_limit::bigint
    and b.cost_reserved + b.cost_spent + :cost::bigint <= :cost_limit::bigint
    and b.executions_reserved + b.executions_spent + :executions::bigint <= :executions_limit::bigint
  returning b.day
)
select t.day::text as day, (select count(*) from granted) > 0 as is_granted, t.tokens_spent, t.cost_spent, t.executions_spent
from day_budgets t
where t.tenant_id = :tenant_id::text
  and t.workflow_id = :workflow_id::text
  and t.day = (now() at time zone 'utc')::date

-- name: page
-- A page of days after a cursor: the newest day first, then by workflow. An empty workflow id means all workflows. If it names one, its present
-- day is listed although no run has reserved of it.
with days as (
  select b.workflow_id, b.day, b.tokens_reserved, b.cost_reserved, b.executions_reserved, b.tokens_spent, b.cost_spent, b.executions_spent
  from day_budgets b
  where b.tenant_id = :tenant_id::text
    and (:workflow_id::text = '' or b.workflow_id = :workflow_id)
  union all
  select w.workflow_id, (now() at time zone 'utc')::date, 0, 0, 0, 0, 0, 0
  from workflows w
  where w.tenant_id = :tenant_id::text
    and w.workflow_id = :workflow_id::text
    and not exists (
      select from day_budgets b
      where b.tenant_id = w.tenant_id
        and b.workflow_id = w.workflow_id
        and b.day = (now() at time zone 'utc')::date
    )
)
select d.workflow_id, d.day::text as day, (d.day + 1)::timestamp at time zone 'utc' as resets_at, w.definition_id,
  d.tokens_reserved, d.cost_reserved, d.executions_reserved, d.tokens_spent, d.cost_spent, d.executions_spent
from days d
left join workflows w on w.tenant_id = :tenant_id::text and w.workflow_id = d.workflow_id
where d.day < :after_day::text::date
  or (d.day = :after_day::text::date and d.workflow_id > :after_workflow::text)
order by d.day desc, d.workflow_id
limit :limit::integer
