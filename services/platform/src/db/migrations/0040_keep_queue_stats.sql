-- A person may cancel a command that waits, and redrive or discard one that was given up.
alter table workflow_jobs drop constraint workflow_jobs_status_check;

alter table workflow_jobs add constraint workflow_jobs_status_check
  check (status in ('waiting', 'active', 'paused', 'completed', 'dead_letter', 'cancelled', 'discarded'));

-- The request that redrove the command last, so that a repeat of it changes nothing.
alter table workflow_jobs add column redrive_request text;

drop index workflow_jobs_settled;

create index workflow_jobs_settled on workflow_jobs (changed_at) where status in ('completed', 'cancelled', 'discarded');
-- The list of commands: newest first, by status.
create index workflow_jobs_listed on workflow_jobs (status, enqueued_at desc, job_id desc);

-- Samples of the whole system, one for each interval. A sample has a row for all node types together, with an empty node_type, and a row for
-- each type with something to count. The first scheduler that takes the sample of an interval writes its rows.
create table queue_stats (
  node_type text not null,
  taken_at timestamptz not null,
  slots integer not null,
  active integer not null,
  waiting integer not null,
  -- Of the nodes that are due. Null if none is.
  oldest_ms bigint,
  median_ms bigint,
  -- Only in the row of all types.
  runs_pending integer,
  runs_running integer,
  pending_oldest_ms bigint,
  pending_median_ms bigint,
  primary key (node_type, taken_at)
);

create index queue_stats_time on queue_stats (taken_at);

-- What each scheduler and gateway holds open: pools of database connections, and standing streams.
create table process_stats (
  taken_at timestamptz not null,
  process_id uuid not null,
  service text not null,
  kind text not null check (kind in ('connections', 'streams')),
  pool text not null,
  size integer not null,
  in_use integer not null,
  idle integer not null,
  primary key (taken_at, process_id, pool)
);
