-- The statements of retention: which finished runs are due, and which of their stream deltas lose their text.

-- name: ended
-- Finished runs of one status in the order in which they ended, after a place. `is_due` says whether retention may remove the run now: it
-- is old enough by the rule of its workflow, its parent is gone, and no child of it is live. A restored run counts from its restore. The
-- limit bounds the runs that it reads.
select
  r.run_id,
  r.ended_at::text as ended,
  coalesce(r.restored_at, r.ended_at) < now() - coalesce(
    (
      select o.age_ms
      from unnest(:workflow_ids::text[], :ages_ms::double precision[]) as o (workflow_id, age_ms)
      where o.workflow_id = r.workflow_id
    ), :age_ms::double precision
  ) * interval '1 millisecond'
    and not exists (select 1 from runs p where p.run_id = r.parent_run_id)
    and not exists (select 1 from runs c where c.parent_run_id = r.run_id and c.ended_at is null) as is_due
from (
  select run_id, ended_at, restored_at, workflow_id, parent_run_id
  from runs
  where status = :status::text
    and ended_at is not null
    and ended_at < now() - :least_ms::double precision * interval '1 millisecond'
    and (ended_at, run_id) > (:after_ended::timestamptz, :after_run_id::uuid)
  order by ended_at, run_id
  limit :limit::integer
) r
order by r.ended_at, r.run_id

-- name: kept_in_range
-- How many runs have ids of this range, and how many events they have. The limit bounds the runs that it reads.
select count(*)::integer as runs, coalesce(sum(last_seq), 0)::double precision as events
from (
  select last_seq
  from runs
  where run_id >= :from_id::uuid
    and run_id < :to_id::uuid
  limit :limit::integer
) kept

-- name: delete_logs
-- Deletes at most `limit` events of runs that are removed. A run that came back from the archive meanwhile keeps its log. All runs of a page but
-- the last one are in it with their whole log, so the statement does not join the log with itself. If the statistics said that the log is
-- empty, PostgreSQL would compare each event of the page with the whole log.
with page as materialized (
  select run_id, seq
  from run_events
  where run_id = any (array(
    select g.run_id
    from unnest(:run_ids::uuid[]) as g (run_id)
    where (select r.run_id from runs r where r.run_id = g.run_id limit 1) is null
  ))
  order by run_id, seq
  limit :limit::integer
), last_run as materialized (
  select run_id, max(seq) as seq
  from page
  group by run_id
  order by run_id desc
  limit 1
), whole as (
  delete from run_events
  where run_id = any (array(
    select distinct p.run_id
    from page p
    where p.run_id <> (select l.run_id from last_run l)
  ))
  returning 1
), part as (
  delete from run_events
  where run_id = (select l.run_id from last_run l)
    and seq <= (select l.seq from last_run l)
  returning 1
)
select ((select count(*) from whole) + (select count(*) from part))::integer as events

-- name: left_logs
-- Removed runs whose logs are not deleted yet.
select run_id
from removed_logs
order by run_id
limit :limit::integer

-- name: forget_logs
-- Forgets removed runs whose logs are deleted, and runs that came back from the archive.
delete from removed_logs l
where l.run_id = any (:run_ids::uuid[])
  and (
    (select e.seq from run_events e where e.run_id = l.run_id limit 1) is null
    or (select r.run_id from runs r where r.run_id = l.run_id limit 1) is not null
  )

-- name: fold_deltas
-- Empties stream deltas of executions that completed: the output has what they said. The rows stay, because readers count on every seq. At
-- most `limit` in one call. The arrays make the planner expect several rows, so that it reads the log by its key.
with folded as (
  update run_events e
  set payload = json_build_object('deltaIndex', e.payload -> 'deltaIndex', 'text', '')::jsonb
  from (
    select unnest(array_agg(d.run_id)) as run_id, unnest(array_agg(d.seq)) as seq
    from (
    select page.run_id, page.seq
    from unnest(:run_ids::uuid[]) as g (run_id)
    cross join lateral (
      select t.run_id, t.seq
      from run_events t
      where t.run_id = g.run_id
        and t.type = 'node.stream.delta'
        and t.type in ('node.stream.delta', 'node.log')
        and (t.payload ->> 'text' <> '' or t.payload ? 'media')
        and (
          select c.seq
          from run_events c
          where c.run_id = t.run_id
            and c.node_id = t.node_id
            and c.iteration = t.iteration
            and c.type = 'node.completed'
            and c.type in (
              'node.completed', 'node.failed', 'node.retried', 'node.skipped', 'node.cancelled', 'node.timed_out'
            )
          limit 1
        ) is not null
      limit :limit::integer
    ) page
    limit :limit::integer
    ) d
  ) full_deltas
  where e.run_id = full_deltas.run_id
    and e.seq = full_deltas.seq
  returning e.seq
)
select count(*)::integer as events
from folded

-- name: ended_since
-- Runs that ended after a place and before a while ago, in the order in which they ended.
select run_id, ended_at::text as ended
from (
  select page.*
  from unnest(:statuses::text[]) as s (status)
  cross join lateral (
    select r.run_id, r.ended_at
    from runs r
    where r.status = s.status
      and r.ended_at is not null
      and r.ended_at < now() - :age_ms::double precision * interval '1 millisecond'
      and (r.ended_at, r.run_id) > (:after_ended::timestamptz, :after_run_id::uuid)
    order by r.ended_at, r.run_id
    limit :limit::integer
  ) page
) found
order by ended_at, run_id
limit :limit::integer

-- name: mark
-- The place of a walk.
select ended_at::text as ended, last_id
from retention_marks
where name = :name::text

-- name: set_mark
-- Moves the place of a walk.
insert into retention_marks (name, ended_at, last_id)
values (:name::text, :ended::timestamptz, :last_id::uuid)
on conflict (name) do update
set ended_at = excluded.ended_at, last_id = excluded.last_id
