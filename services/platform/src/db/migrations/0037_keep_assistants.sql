-- Assistants: workflows with fixed values, under an id of their own. A run copies what it needs into its first event.
create table assistants (
  tenant_id text not null,
  assistant_id text not null,
  version bigint not null default 1,
  workflow_id text not null,
  -- 0 means the newest at each start.
  workflow_version bigint not null default 0,
  config json not null default '{}',
  metadata jsonb not null default '{}',
  -- What a start may leave out.
  defaults json not null default '{}',
  -- Since when its runs are being removed. No reader and no start finds it from then on.
  deleted_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (tenant_id, assistant_id)
);

create index assistants_metadata on assistants using gin (metadata jsonb_path_ops);

create index assistants_deleted on assistants (deleted_at) where deleted_at is not null;

-- Assistants whose metadata contains a value. A generalized index is read as a bitmap, which the connections of Pawl switch off.
create function pawl_assistants_with(tenant text, workflow text, wanted jsonb, after_id text, most integer) returns setof text
language sql stable
set enable_bitmapscan to on
as $$
  select assistant_id
  from assistants
  where tenant_id = tenant
    and metadata @> wanted
    and (workflow = '' or workflow_id = workflow)
    and deleted_at is null
    and assistant_id > after_id
  order by assistant_id
  limit most
$$;

-- The transaction that inserts a run of an assistant locks the assistant. So no run names one that is removed.
alter table runs add column assistant_id text;

create index runs_of_assistant on runs (assistant_id, run_id) where assistant_id is not null;

create index runs_live_of_assistant on runs (assistant_id) where assistant_id is not null and ended_at is null;

-- The assistant of starts that name no workflow.
alter table threads
  add column assistant_id text,
  add constraint threads_assistant foreign key (tenant_id, assistant_id)
    references assistants (tenant_id, assistant_id) on delete set null (assistant_id);

create index threads_of_assistant on threads (tenant_id, assistant_id) where assistant_id is not null;

-- The stored values that the memory and the output of a thread name. They stay when the run that left them is removed.
create table thread_values (
  tenant_id text not null,
  thread_id text not null,
  sha256 text not null references stored_values (sha256),
  primary key (tenant_id, thread_id, sha256),
  constraint thread_values_of foreign key (tenant_id, thread_id) references threads (tenant_id, thread_id) on delete cascade
);

create index thread_values_sha256 on thread_values (sha256);
