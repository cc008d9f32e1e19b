-- What users say about runs, and what a filter of runs reads.

-- A table beside runs, so that a run without metadata costs nothing, and a change of them moves no row of runs.
create table run_metadata (
  run_id uuid primary key,
  metadata jsonb not null
);

-- Without a list of pending entries: every search would read that list.
create index run_metadata_values on run_metadata using gin (metadata jsonb_path_ops) with (fastupdate = off);

-- Filters that people keep under a name.
create table run_filters (
  tenant_id text not null,
  name text not null,
  filter text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (tenant_id, name)
);
