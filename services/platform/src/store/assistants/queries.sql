-- Assistants: users save and delete them. A tick names those of its new runs.

-- part: columns
a.tenant_id, a.assistant_id, a.version, a.workflow_id, a.workflow_version, a.config::text as config, a.metadata::text as metadata, a.defaults,
  a.created_at, a.updated_at

-- name: one
-- One assistant that is not being removed.
select {columns}
from assistants a
where a.tenant_id = :tenant_id::text
  and a.assistant_id = :assistant_id::text
  and a.deleted_at is null

-- name: page
-- Assistants of a tenant in order of id.
select {columns}
from assistants a
where a.tenant_id = :tenant_id::text
  and a.assistant_id > :after::text
  and (:workflow_id::text = '' or a.workflow_id = :workflow_id::text)
  and a.deleted_at is null
order by a.assistant_id
limit :limit::integer

-- name: page_by_metadata
-- Assistants whose metadata contains a value, in order of id. The function may read assistants_metadata.
select {columns}
from pawl_assistants_with(:tenant_id::text, :workflow_id::text, :metadata::jsonb, :after::text, :limit::integer) as m (assistant_id)
join assistants a on a.tenant_id = :tenant_id::text and a.assistant_id = m.assistant_id
order by a.assistant_id
limit :limit::integer

-- name: insert
-- A new assistant. Returns no row if there is one, also one that is being removed.
insert into assistants as a (tenant_id, assistant_id, workflow_id, workflow_version, config, metadata, defaults)
values (
  :tenant_id::text, :assistant_id::text, :workflow_id::text, :workflow_version::bigint, :config::json, :metadata::jsonb, :defaults::json
)
on conflict do nothing
returning {columns}

-- name: update
-- Replaces the spec of an assistant of a version.
update assistants a
set
  version = a.version + 1,
  workflow_id = :workflow_id::text,
  workflow_version = :workflow_version::bigint,
  config = :config::json,
  metadata = :metadata::jsonb,
  defaults = :defaults::json,
  updated_at = now()
where a.tenant_id = :tenant_id::text
  and a.assistant_id = :assistant_id::text
  and a.version = :expected_version::bigint
  and a.deleted_at is null
returning {columns}

-- name: live_runs
-- Runs of an assistant that have not ended. Walks runs_live_of_assistant.
select run_id
from runs
where assistant_id = :assistant_id::text
  and assistant_id is not null
  and ended_at is null
  and tenant_id = :tenant_id::text
limit :limit::integer

-- name: lock
-- Locks an assistant against runs that name it. Another statement looks for its runs: this one saw the database before it had the lock.
select a.assistant_id
from assistants a
where a.tenant_id = :tenant_id::text
  and a.assistant_id = :assistant_id::text
  and a.deleted_at is null
for update

-- name: mark
-- Marks an assistant as deleted.
update assistants
set deleted_at = now()
where tenant_id = :tenant_id::text
  and assistant_id = :assistant_id::text

-- name: some_runs
-- Some runs of a marked assistant, without those that have a live run below them. Walks runs_of_assistant.
select r.run_id
from (
  select tenant_id, assistant_id, deleted_at
  from assistants
  where tenant_id = :tenant_id::text
    and assistant_id = :assistant_id::text
  limit 1
) a
cross join lateral (
  select o.run_id
  from runs o
  where o.assistant_id = a.assistant_id
    and o.assistant_id is not null
    and o.tenant_id = a.tenant_id
    and (select c.run_id from runs c where c.parent_run_id = o.run_id and c.ended_at is null limit 1) is null
  order by o.run_id
  limit :limit::integer
) r
where a.deleted_at is not null

-- name: remove
-- Deletes a marked assistant that no run names any more. Threads that name it name none afterwards.
delete from assistants a
where a.tenant_id = :tenant_id::text
  and a.assistant_id = :assistant_id::text
  and a.deleted_at is not null
  and not exists (
    select 1
    from runs r
    where r.assistant_id = a.assistant_id
      and r.assistant_id is not null
      and r.tenant_id = a.tenant_id
  )

-- name: marked
-- Whether an assistant is marked. Returns no row if it is removed.
select a.deleted_at is not null as is_marked
from assistants a
where a.tenant_id = :tenant_id::text
  and a.assistant_id = :assistant_id::text

-- name: closed
-- Marked assistants, the oldest mark first.
select tenant_id, assistant_id
from assistants
where deleted_at is not null
  and deleted_at <= now()
order by deleted_at
limit :limit::integer

-- name: name_runs
-- Names the assistants of new runs, and locks them against their deletion until the commit. It fails with PW006 if one of them is gone.
with n as materialized (
  select *
  from unnest(:tenant_id::text[], :assistant_id::text[], :run_id::uuid[]) as g (tenant_id, assistant_id, run_id)
), held as materialized (
  select n.run_id, h.assistant_id
  from n
  cross join lateral (
    select a.assistant_id
    from assistants a
    where a.tenant_id = n.tenant_id
      and a.assistant_id = n.assistant_id
      and a.deleted_at is null
    limit 1
    for key share
  ) h
), named as (
  update runs r
  set assistant_id = h.assistant_id
  from held h
  where r.run_id = h.run_id
  returning 1
)
select pawl_require((select count(*) from named) = (select count(*) from n), 'PW006') as held
