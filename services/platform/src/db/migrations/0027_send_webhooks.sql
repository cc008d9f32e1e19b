-- Receivers of webhooks for many runs. Secrets and values of headers never leave the scheduler except in calls.
create table webhook_endpoints (
  tenant_id text not null,
  endpoint_id text collate "C" not null,
  url text not null,
  description text not null,
  events text[] not null,
  workflow_ids text[] not null,
  by_reference boolean not null,
  headers json not null,
  secret bytea not null check (octet_length(secret) between 24 and 64),
  previous_secret bytea,
  previous_until timestamptz,
  disabled_reason text,
  version integer not null default 1,
  request_id text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (tenant_id, endpoint_id)
);

-- Receivers of events of one run, by the request that started it and by its workflow.
create table run_webhooks (
  run_id uuid not null,
  place integer not null,
  events text[] not null,
  endpoint_id text collate "C",
  url text,
  headers json not null,
  secret bytea,
  primary key (run_id, place)
);

-- The outbox: an event for one receiver. The tick inserts it with the event. It needs no row of its run, which may be deleted.
create table webhook_deliveries (
  run_id uuid not null,
  delivery_id uuid not null,
  tenant_id text not null,
  workflow_id text,
  event_type text not null,
  event_id bigint not null,
  node_id text not null,
  iteration integer not null,
  -- The endpoint, or the place among the webhooks of the run.
  target text collate "C" not null,
  endpoint_id text collate "C",
  url text not null,
  headers json not null,
  secret bytea,
  result text not null,
  run_started_at timestamptz,
  run_ended_at timestamptz,
  created_at timestamptz not null default now(),
  state text not null default 'pending' check (state in ('pending', 'delivered', 'dead')),
  attempts integer not null default 0,
  -- Counts the claims. A result names the claim that it belongs to.
  epoch integer not null default 0,
  -- While it waits: when it may be claimed. A claim moves it behind the end of its lease.
  due_at timestamptz not null default now(),
  status_code integer not null default 0,
  error text not null default '',
  ended_at timestamptz,
  primary key (run_id, delivery_id)
) with (fillfactor = 80);

create unique index webhook_deliveries_once on webhook_deliveries (run_id, event_id, target);

create index webhook_deliveries_by_id on webhook_deliveries (delivery_id);

create index webhook_deliveries_due on webhook_deliveries (due_at) where state = 'pending';

create index webhook_deliveries_newest on webhook_deliveries (tenant_id, delivery_id desc);

create index webhook_deliveries_of_endpoint on webhook_deliveries (tenant_id, endpoint_id, delivery_id desc) where endpoint_id is not null;

create index webhook_deliveries_over on webhook_deliveries (ended_at) where state <> 'pending';

-- The log of calls.
create table webhook_attempts (
  run_id uuid not null,
  delivery_id uuid not null,
  epoch integer not null,
  ended_at timestamptz not null default now(),
  latency_ms double precision not null,
  status_code integer not null,
  error text not null,
  executor_id uuid,
  primary key (run_id, delivery_id, epoch)
);

-- How many webhook calls an executor makes at once.
alter table executors add column webhook_slots integer not null default 0;
