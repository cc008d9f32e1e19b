-- Bulks: one action on all runs that a filter found.
create table bulks (
  bulk_id uuid primary key,
  tenant_id text not null,
  -- Null if the caller sent none.
  request_id text,
  request_hash text not null,
  action text not null,
  filter text not null,
  options json not null,
  -- The corrected definition of a repair.
  definition text,
  state text not null check (state in ('canary', 'waiting', 'running', 'completed', 'stopped', 'aborted')),
  state_reason text not null default '',
  matched integer not null default 0,
  canary integer not null default 0,
  done integer not null default 0,
  failed integer not null default 0,
  skipped integer not null default 0,
  -- When the next step is due: the pace.
  due_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- When no run of it is under way any more.
  ended_at timestamptz
);

create unique index bulks_request on bulks (tenant_id, request_id) where request_id is not null;
create index bulks_newest on bulks (tenant_id, bulk_id desc);
create index bulks_due on bulks (due_at) where ended_at is null and state <> 'waiting';
create index bulks_ended on bulks (ended_at) where ended_at is not null;

-- The runs of a bulk, fixed when it starts. `attempts` counts the steps that have begun to act on the run, so it is above 0 before the first
-- act. The outcome is null until a step has recorded it.
create table bulk_runs (
  bulk_id uuid not null,
  position integer not null,
  run_id uuid not null,
  attempts integer not null default 0,
  outcome text check (outcome in ('done', 'failed', 'skipped')),
  reason text not null default '',
  message text not null default '',
  new_run_id uuid,
  ended_at timestamptz,
  primary key (bulk_id, position)
) with (fillfactor = 80);

create index bulk_runs_open on bulk_runs (bulk_id, position) where outcome is null;
