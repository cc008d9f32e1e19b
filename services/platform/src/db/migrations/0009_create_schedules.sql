-- Schedules: their settings, the time of the next occurrence, and the result of the newest one. The occurrence itself waits in pg-boss as a
-- delayed job with the id `alarm_id`. The transaction that writes this row also writes the job.
create table schedules (
  tenant_id text not null,
  schedule_id text not null,
  workflow_id text not null,
  -- 0 means the newest version at each occurrence.
  workflow_version integer not null,
  expression text not null,
  time_zone text not null,
  -- The JSON text that the user sent.
  input text not null,
  priority integer not null,
  missed text not null check (missed in ('skip', 'run_once', 'run_all')),
  overlap text not null check (overlap in ('allow', 'skip')),
  -- Counts the edits.
  version integer not null default 1,
  -- The next occurrence, and the job that waits for it. Null while the schedule is paused, and once the rule has ended.
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
  -- The request id of the newest edit, to recognise a repeat.
  request_id text,
  request_hash text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (tenant_id, schedule_id),
  check ((next_at is null) = (alarm_id is null)),
  check (paused_at is null or next_at is null)
) with (fillfactor = 70);

create index schedules_by_workflow on schedules (tenant_id, workflow_id, schedule_id);

-- The schedule and the occurrence that started a run. The log has them in run.started. These columns are for readers of the row.
alter table runs
  add column schedule_id text,
  add column schedule_at timestamptz;

create index runs_by_schedule on runs (tenant_id, schedule_id, run_id desc) where schedule_id is not null;
