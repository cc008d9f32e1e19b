-- Workflows and their definitions. A definition is immutable: an edit writes a new version and points the workflow at it.

-- part: definition
definition_id, workflow_id, coalesce(version, 0) as version, digest, title, node_count, body, created_at

-- name: newest_versions
-- A page of workflows in order of id, each at its newest version, without the bodies.
select w.workflow_id, w.version, d.definition_id, d.digest, d.title, d.node_count, null::text as body, w.created_at, w.updated_at
from workflows w
join definitions d on d.definition_id = w.definition_id
where w.tenant_id = :tenant_id::text
  and w.workflow_id > :after::text
order by w.workflow_id
limit :limit::integer

-- name: version
-- One version of an existing workflow. Version 0 is the newest. The versions of a deleted workflow stay for its runs, but are not found
-- here. The parameter is a bigint, because a caller may send any uint32 as a version.
select w.workflow_id, d.version, d.definition_id, d.digest, d.title, d.node_count, d.body, w.created_at, d.created_at as updated_at
from workflows w
join definitions d
  on d.tenant_id = w.tenant_id
  and d.workflow_id = w.workflow_id
  and d.version = case when :version::bigint = 0 then w.version else :version::bigint end
where w.tenant_id = :tenant_id::text
  and w.workflow_id = :workflow_id::text

-- name: definition
-- A definition by its own id. Runs use this, so it also finds definitions of deleted workflows.
select {definition}
from definitions
where definition_id = :definition_id::uuid

-- name: definition_of_request
-- The definition that a request id was used for.
select {definition}, request_hash
from definitions
where tenant_id = :tenant_id::text
  and request_id = :request_id::text

-- name: lock
-- Locks a workflow, so that one writer at a time creates its versions. Another statement reads the definition. A join here would look for
-- the newest definition in a snapshot from before the wait, and find nothing.
select definition_id
from workflows
where tenant_id = :tenant_id::text
  and workflow_id = :workflow_id::text
for update

-- name: insert_definition
-- Writes the next version of a workflow, and its words for the search. If a user creates a removed workflow again, it continues the old
-- numbers, so a version never means two things. Two writers of one number conflict on the unique index definitions_version.
with kept as (
  insert into definitions (
    definition_id, tenant_id, workflow_id, version, digest, title, node_count, body, request_id, request_hash
  )
  values (
    :definition_id::uuid, :tenant_id::text, :workflow_id::text,
    (
      select coalesce(max(d.version), 0) + 1
      from definitions d
      where d.tenant_id = :tenant_id::text
        and d.workflow_id = :workflow_id::text
    ),
    :digest::text, :title::text, :node_count::integer, :body::text, :request_id::text, :request_hash::text
  )
  returning {definition}
), words as (
  insert into workflow_words (tenant_id, workflow_id, word)
  select :tenant_id::text, :workflow_id::text, word
  from unnest(:words::text[]) word
  on conflict do nothing
)
select {definition}
from kept

-- name: insert
-- A new workflow and its current definition.
insert into workflows (tenant_id, workflow_id, version, definition_id)
values (:tenant_id::text, :workflow_id::text, :version::integer, :definition_id::uuid)

-- name: point
-- Makes another definition the current one. The caller holds the lock of the row.
update workflows
set
  version = :version::integer,
  definition_id = :definition_id::uuid,
  updated_at = now()
where tenant_id = :tenant_id::text
  and workflow_id = :workflow_id::text

-- name: delete
-- Removes a workflow. Its definitions stay for the runs that use them.
delete from workflows
where tenant_id = :tenant_id::text
  and workflow_id = :workflow_id::text

-- name: live_runs
-- Runs of a workflow that have not ended, up to a bound. Two small partial indexes hold all live runs: runs_deadline holds those
-- whose deadline counts, runs_waiting holds those that wait or are paused.
(
  select run_id
  from runs
  where tenant_id = :tenant_id::text
    and workflow_id = :workflow_id::text
    and ended_at is null
    and status not in ('waiting', 'paused')
)
union all
(
  select run_id
  from runs
  where tenant_id = :tenant_id::text
    and workflow_id = :workflow_id::text
    and ended_at is null
    and status in ('waiting', 'paused')
)
limit 1000
