-- Schedules: what a person asked for, when each comes due next, and what became of the newest occurrence. The occurrence itself
-- waits in pg-boss as a delayed job whose id is `alarm_id`, written in the same transaction as this row.
create table schedules (
  tenant_id text not null,
  schedule_id text not null,
  workflow_id text not null,
  -- 0 for the newest at each occurrence.
  workflow_version integer not null,
  expression text not null,
  time_zone text not null,
  -- JSON text as it was said.
  input text not null,
  priority integer not null,
  missed text not null check (missed in ('skip', 'run_once', 'run_all')),
  overlap text not null check (overlap in ('allow', 'skip')),
  -- Counts the edits.
  version integer not null default 1,
  -- The next occurrence, and the job that waits for it. Null while paused, and once the rule has ended.
  next_at timestamptz,
  alarm_id uuid,
  paused_at timestamptz,
  paused_by text not null default '',
  pause_reason text not null default '',
  last_at timestamptz,
  last_run_id uuid,
  last_error text not null default '',
  started_count bigint not null default 0,
  skipped_count bigint not null default 0,
  -- Of the newest edit, so that a repeat of it is known.
  request_id text,
  request_hash text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (tenant_id, schedule_id),
  check ((next_at is null) = (alarm_id is null)),
  check (paused_at is null or next_at is null)
) with (fillfactor = 70);

create index schedules_by_workflow on schedules (tenant_id, workflow_id, schedule_id);

-- Which occurrence of which schedule started a run: what the log says in run.started, for readers that have only the row.
alter table runs
  add column schedule_id text,
  add column schedule_at timestamptz;

create index runs_by_schedule on runs (tenant_id, schedule_id, run_id desc) where schedule_id is not null;
