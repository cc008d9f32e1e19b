-- Node executions that lost too many executors: the facts of node.failed (delivery_exhausted), and how a user closed them.
create table dead_letters (
  dead_letter_id uuid primary key,
  tenant_id text not null,
  run_id uuid not null,
  -- Null for a test run.
  workflow_id text,
  node_id text not null,
  iteration integer not null,
  attempt integer not null,
  node_type text not null,
  deliveries integer not null,
  -- The executor that lost the execution last, and how it lost it.
  executor_id uuid not null,
  reason text not null,
  error_message text not null,
  died_at timestamptz not null default now(),
  state text not null default 'open' check (state in ('open', 'redriven', 'discarded')),
  redrive_run_id uuid,
  closed_at timestamptz,
  -- The request that closed the letter. A repeat of the request closes no others.
  closed_request_id text
) with (fillfactor = 80);

-- A node execution settles once, so it dies once.
create unique index dead_letters_once on dead_letters (run_id, node_id, iteration);
create index dead_letters_newest on dead_letters (tenant_id, dead_letter_id desc);
create index dead_letters_open on dead_letters (tenant_id, dead_letter_id) where state = 'open';
create index dead_letters_by_request on dead_letters (tenant_id, closed_request_id) where closed_request_id is not null;
