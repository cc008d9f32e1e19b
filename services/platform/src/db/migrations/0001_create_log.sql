-- The log and its projections. Tables are keyed by run_id first, so that they distribute by run.
-- Rows that are updated in place keep room on their page (fillfactor), so that updates stay heap-only.

create table definitions (
  definition_id uuid primary key,
  tenant_id text not null,
  -- Null for the graph of a test run, which is deleted with it.
  workflow_id text,
  version integer,
  digest text not null,
  title text not null,
  node_count integer not null,
  -- Canonical JSON as text: the digest is over exactly these bytes, which jsonb would not keep.
  body text not null,
  request_id text,
  request_hash text,
  created_at timestamptz not null default now()
);

create unique index definitions_version on definitions (tenant_id, workflow_id, version) where workflow_id is not null;
create unique index definitions_request on definitions (tenant_id, request_id) where request_id is not null;

create table workflows (
  tenant_id text not null,
  workflow_id text not null,
  version integer not null,
  definition_id uuid not null references definitions,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (tenant_id, workflow_id)
);

create table runs (
  run_id uuid primary key,
  tenant_id text not null,
  definition_id uuid not null,
  workflow_id text,
  workflow_version integer not null,
  kind text not null check (kind in ('saved', 'test')),
  status text not null check (status in ('pending', 'scheduled', 'running', 'waiting', 'retrying', 'paused',
    'compensating', 'completed', 'failed', 'cancelled', 'timeout')),
  -- The version of the compare-and-swap. Every decision names the version that it was made on.
  version bigint not null,
  last_seq bigint not null,
  has_failures boolean not null default false,
  priority integer not null default 0,
  error_message text,
  request_id text,
  request_hash text,
  traceparent text,
  created_at timestamptz not null default now(),
  ended_at timestamptz,
  deadline_at timestamptz not null
) with (fillfactor = 70);

create unique index runs_request on runs (tenant_id, request_id) where request_id is not null;
create index runs_newest on runs (tenant_id, run_id desc);
create index runs_by_workflow on runs (tenant_id, workflow_id, run_id desc);
-- Live runs by deadline. The index is small, because it holds no finished run.
create index runs_deadline on runs (deadline_at) where ended_at is null;

-- The log is range-partitioned by run_id. Run ids are UUIDv7, so a range of ids is a range of time. The primary key stays (run_id, seq),
-- and retention drops a partition. The scheduler adds the partition of the next month. The default partition takes all other rows.
create table run_events (
  run_id uuid not null,
  seq bigint not null,
  type text not null,
  node_id text not null,
  iteration integer not null,
  attempt integer not null,
  -- The claim under which an executor caused the event. For node.started it is its own seq. 0 if no executor caused it.
  epoch bigint not null,
  -- Position within the claim's stream, for deltas and log lines. 0 for other events.
  ordinal integer not null,
  -- The engine's data.
  payload jsonb not null,
  -- The user's data: input, output, details.
  value jsonb,
  at timestamptz not null default now(),
  primary key (run_id, seq)
) partition by range (run_id);

create table run_events_default partition of run_events default;

-- Facts that happen once per attempt. The index is a second defence behind the claim epoch.
create unique index run_events_once on run_events (run_id, node_id, iteration, attempt, type)
  where type in ('node.completed', 'node.failed', 'node.retried', 'node.skipped', 'node.cancelled', 'node.timed_out');
-- The index drops a repeated delta or log line.
create unique index run_events_streamed on run_events (run_id, epoch, type, ordinal)
  where type in ('node.stream.delta', 'node.log');

create table executors (
  executor_id uuid primary key,
  -- One row is renewed for all leases of the executor.
  alive_until timestamptz not null,
  -- The connection that represents the executor. An older connection may not shorten its life.
  session_id uuid not null,
  node_types text[] not null,
  slots integer not null,
  description text not null,
  registered_at timestamptz not null default now()
) with (fillfactor = 50);

create table leases (
  run_id uuid not null,
  node_id text not null,
  iteration integer not null,
  epoch bigint not null,
  attempt integer not null,
  executor_id uuid not null,
  -- Set for a single task that asked for more time than its executor has.
  extended_until timestamptz,
  leased_at timestamptz not null default now(),
  primary key (run_id, node_id, iteration)
) with (fillfactor = 90);

create index leases_by_executor on leases (executor_id);
