-- Threads: lines of runs that share a memory. The transaction that ends or begins a run of a thread also changes the thread, and compares
-- its version. The memory and the output are a copy of what the log of state_run_id ends with.
create table threads (
  tenant_id text not null,
  thread_id text not null,
  version bigint not null default 1,
  status text not null default 'idle',
  metadata jsonb not null default '{}',
  holder_run_id uuid,
  run_count bigint not null default 0,
  memory json not null default '{}',
  memory_taint jsonb,
  output json,
  state_run_id uuid,
  forked_from text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (tenant_id, thread_id),
  constraint threads_status_check check (status in ('idle', 'busy', 'interrupted', 'error'))
) with (fillfactor = 80);

create index threads_metadata on threads using gin (metadata jsonb_path_ops);

-- Threads whose metadata contains a value. A generalized index is read as a bitmap, which the connections of Pawl switch off.
create function pawl_threads_with(tenant text, wanted_statuses text[], wanted jsonb, after_id text, most integer) returns setof text
language sql stable
set enable_bitmapscan to on
as $$
  select thread_id
  from threads
  where tenant_id = tenant
    and metadata @> wanted
    and (cardinality(wanted_statuses) = 0 or status = any (wanted_statuses))
    and thread_id > after_id
  order by thread_id
  limit most
$$;

-- The runs of a thread in the order of their acceptance. A run waits for the thread, holds it, or is over.
create table thread_runs (
  tenant_id text not null,
  thread_id text not null,
  position bigint not null,
  run_id uuid not null,
  state text not null,
  primary key (tenant_id, thread_id, position),
  constraint thread_runs_state_check check (state in ('waiting', 'holding', 'over')),
  constraint thread_runs_of foreign key (tenant_id, thread_id) references threads (tenant_id, thread_id) on delete cascade
) with (fillfactor = 80);

-- At most one run of a thread is under way, whatever a scheduler believes.
create unique index thread_runs_holder on thread_runs (tenant_id, thread_id) where state = 'holding';

create index thread_runs_waiting on thread_runs (tenant_id, thread_id, position) where state = 'waiting';

create unique index thread_runs_by_run on thread_runs (run_id);

alter table runs
  add column thread_id text,
  add column stop text;

create index runs_of_thread on runs (thread_id, status) where thread_id is not null;
