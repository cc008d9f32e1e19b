-- The schema that the migrations make of an empty database. A test writes this file (UPDATE_SCHEMA=1). Do not edit it.

create table approvals (
  approval_id uuid not null,
  tenant_id text not null,
  run_id uuid not null,
  workflow_id text,
  node_id text not null,
  iteration integer not null,
  reason text not null,
  message text not null,
  details json,
  assignees text[] not null,
  state text not null default 'open'::text,
  opened_at timestamp with time zone not null default now(),
  deadline_at timestamp with time zone,
  closed_at timestamp with time zone,
  decided_by text not null default ''::text,
  comment text not null default ''::text,
  response json,
  constraint approvals_pkey PRIMARY KEY (run_id, approval_id),
  constraint approvals_state_check CHECK ((state = ANY (ARRAY['open'::text, 'approved'::text, 'rejected'::text, 'timed_out'::text, 'cancelled'::text])))
) with (fillfactor=80);
CREATE INDEX approvals_by_id ON pawl.approvals USING btree (approval_id);
CREATE INDEX approvals_due ON pawl.approvals USING btree (deadline_at) WHERE ((state = 'open'::text) AND (deadline_at IS NOT NULL));
CREATE INDEX approvals_newest ON pawl.approvals USING btree (tenant_id, approval_id DESC);
CREATE INDEX approvals_open ON pawl.approvals USING btree (tenant_id, approval_id DESC) WHERE (state = 'open'::text);

create table assistants (
  tenant_id text not null,
  assistant_id text not null,
  version bigint not null default 1,
  workflow_id text not null,
  workflow_version bigint not null default 0,
  config json not null default '{}'::json,
  metadata jsonb not null default '{}'::jsonb,
  defaults json not null default '{}'::json,
  deleted_at timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint assistants_pkey PRIMARY KEY (tenant_id, assistant_id)
);
CREATE INDEX assistants_deleted ON pawl.assistants USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);
CREATE INDEX assistants_metadata ON pawl.assistants USING gin (metadata jsonb_path_ops);

create table bulk_runs (
  bulk_id uuid not null,
  position integer not null,
  run_id uuid not null,
  attempts integer not null default 0,
  outcome text,
  reason text not null default ''::text,
  message text not null default ''::text,
  new_run_id uuid,
  ended_at timestamp with time zone,
  constraint bulk_runs_outcome_check CHECK ((outcome = ANY (ARRAY['done'::text, 'failed'::text, 'skipped'::text]))),
  constraint bulk_runs_pkey PRIMARY KEY (bulk_id, "position")
) with (fillfactor=80);
CREATE INDEX bulk_runs_open ON pawl.bulk_runs USING btree (bulk_id, "position") WHERE (outcome IS NULL);

create table bulks (
  bulk_id uuid not null,
  tenant_id text not null,
  request_id text,
  request_hash text not null,
  action text not null,
  filter text not null,
  options json not null,
  definition text,
  state text not null,
  state_reason text not null default ''::text,
  matched integer not null default 0,
  canary integer not null default 0,
  done integer not null default 0,
  failed integer not null default 0,
  skipped integer not null default 0,
  due_at timestamp with time zone not null default now(),
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  ended_at timestamp with time zone,
  constraint bulks_pkey PRIMARY KEY (bulk_id),
  constraint bulks_state_check CHECK ((state = ANY (ARRAY['canary'::text, 'waiting'::text, 'running'::text, 'completed'::text, 'stopped'::text, 'aborted'::text])))
);
CREATE INDEX bulks_due ON pawl.bulks USING btree (due_at) WHERE ((ended_at IS NULL) AND (state <> 'waiting'::text));
CREATE INDEX bulks_ended ON pawl.bulks USING btree (ended_at) WHERE (ended_at IS NOT NULL);
CREATE INDEX bulks_newest ON pawl.bulks USING btree (tenant_id, bulk_id DESC);
CREATE UNIQUE INDEX bulks_request ON pawl.bulks USING btree (tenant_id, request_id) WHERE (request_id IS NOT NULL);

create table day_budgets (
  tenant_id text not null,
  workflow_id text not null,
  day date not null,
  tokens_reserved bigint not null default 0,
  tokens_spent bigint not null default 0,
  cost_reserved bigint not null default 0,
  cost_spent bigint not null default 0,
  executions_reserved bigint not null default 0,
  executions_spent bigint not null default 0,
  constraint day_budgets_pkey PRIMARY KEY (tenant_id, workflow_id, day)
);

create table dead_letters (
  dead_letter_id uuid not null,
  tenant_id text not null,
  run_id uuid not null,
  workflow_id text,
  node_id text not null,
  iteration integer not null,
  attempt integer not null,
  node_type text not null,
  deliveries integer not null,
  executor_id uuid not null,
  reason text not null,
  error_message text not null,
  died_at timestamp with time zone not null default now(),
  state text not null default 'open'::text,
  redrive_run_id uuid,
  closed_at timestamp with time zone,
  closed_request_id text,
  constraint dead_letters_pkey PRIMARY KEY (run_id, node_id, iteration),
  constraint dead_letters_state_check CHECK ((state = ANY (ARRAY['open'::text, 'redriven'::text, 'discarded'::text])))
) with (fillfactor=80);
CREATE INDEX dead_letters_by_request ON pawl.dead_letters USING btree (tenant_id, closed_request_id) WHERE (closed_request_id IS NOT NULL);
CREATE INDEX dead_letters_newest ON pawl.dead_letters USING btree (tenant_id, dead_letter_id DESC);
CREATE INDEX dead_letters_open ON pawl.dead_letters USING btree (tenant_id, dead_letter_id) WHERE (state = 'open'::text);

create table definitions (
  definition_id uuid not null,
  tenant_id text not null,
  workflow_id text,
  version integer,
  digest text not null,
  title text not null,
  node_count integer not null,
  body text not null,
  request_id text,
  request_hash text,
  created_at timestamp with time zone not null default now(),
  constraint definitions_pkey PRIMARY KEY (definition_id)
);
CREATE UNIQUE INDEX definitions_request ON pawl.definitions USING btree (tenant_id, request_id) WHERE (request_id IS NOT NULL);
CREATE UNIQUE INDEX definitions_version ON pawl.definitions USING btree (tenant_id, workflow_id, version) WHERE (workflow_id IS NOT NULL);

create table effects (
  run_id uuid not null,
  node_id text not null,
  iteration integer not null,
  name text not null,
  class text not null,
  begun_epoch bigint not null,
  committed_epoch bigint,
  result json,
  begun_at timestamp with time zone not null default now(),
  committed_at timestamp with time zone,
  constraint effects_class_check CHECK ((class = ANY (ARRAY['transactional'::text, 'idempotent'::text, 'at_most_once'::text]))),
  constraint effects_pkey PRIMARY KEY (run_id, node_id, iteration, name)
) with (fillfactor=80);

create table executors (
  executor_id uuid not null,
  alive_until timestamp with time zone not null,
  session_id uuid not null,
  node_types text[] not null,
  slots integer not null,
  description text not null,
  registered_at timestamp with time zone not null default now(),
  left_at timestamp with time zone,
  instance_id uuid,
  scheduler_id uuid,
  connected_at timestamp with time zone,
  process_name text not null default ''::text,
  language text not null default ''::text,
  sdk text not null default ''::text,
  build text not null default ''::text,
  silent_since timestamp with time zone,
  webhook_slots integer not null default 0,
  give_up_at timestamp with time zone,
  constraint executors_pkey PRIMARY KEY (executor_id)
) with (fillfactor=50);

create table input_keys (
  tenant_id text not null,
  input_key text not null,
  run_id uuid not null,
  expires_at timestamp with time zone not null,
  constraint input_keys_pkey PRIMARY KEY (tenant_id, input_key)
);
CREATE INDEX input_keys_expiry ON pawl.input_keys USING btree (expires_at);

create table leases (
  run_id uuid not null,
  node_id text not null,
  iteration integer not null,
  epoch bigint not null,
  attempt integer not null,
  executor_id uuid not null,
  extended_until timestamp with time zone,
  leased_at timestamp with time zone not null default now(),
  deadline_at timestamp with time zone,
  constraint leases_pkey PRIMARY KEY (run_id, node_id, iteration)
) with (fillfactor=90);
CREATE INDEX leases_by_executor ON pawl.leases USING btree (executor_id);

create table migrations (
  name text not null,
  applied_at timestamp with time zone not null default now(),
  constraint migrations_pkey PRIMARY KEY (name)
);

create table node_types (
  node_type text not null,
  description text not null,
  input_schema text not null,
  output_schema text not null,
  config_schema text not null,
  earlier text not null,
  revision integer not null,
  updated_at timestamp with time zone not null default now(),
  external boolean not null default false,
  constraint node_types_pkey PRIMARY KEY (node_type)
);

create table pause_epoch (
  is_only boolean not null default true,
  epoch bigint not null,
  constraint pause_epoch_is_only_check CHECK (is_only),
  constraint pause_epoch_pkey PRIMARY KEY (is_only)
) with (fillfactor=10);

create table pauses (
  scope text not null,
  tenant_id text not null,
  name text not null,
  state text not null,
  epoch bigint not null,
  paused_by text not null,
  reason text not null,
  since timestamp with time zone not null default now(),
  resumed_by text not null default ''::text,
  resume_reason text not null default ''::text,
  tended_at timestamp with time zone not null default now(),
  constraint pauses_pkey PRIMARY KEY (scope, tenant_id, name),
  constraint pauses_scope_check CHECK ((scope = ANY (ARRAY['workflow'::text, 'queue'::text]))),
  constraint pauses_state_check CHECK ((state = ANY (ARRAY['pausing'::text, 'paused'::text, 'resuming'::text])))
) with (fillfactor=80);

create table process_stats (
  taken_at timestamp with time zone not null,
  process_id uuid not null,
  service text not null,
  kind text not null,
  pool text not null,
  size integer not null,
  in_use integer not null,
  idle integer not null,
  constraint process_stats_kind_check CHECK ((kind = ANY (ARRAY['connections'::text, 'streams'::text]))),
  constraint process_stats_pkey PRIMARY KEY (taken_at, process_id, pool)
);

create table queue_stats (
  node_type text not null,
  taken_at timestamp with time zone not null,
  slots integer not null,
  active integer not null,
  waiting integer not null,
  oldest_ms bigint,
  median_ms bigint,
  runs_pending integer,
  runs_running integer,
  pending_oldest_ms bigint,
  pending_median_ms bigint,
  constraint queue_stats_pkey PRIMARY KEY (node_type, taken_at)
);
CREATE INDEX queue_stats_time ON pawl.queue_stats USING btree (taken_at);

create table removed_logs (
  run_id uuid not null,
  constraint removed_logs_pkey PRIMARY KEY (run_id)
);

create table retention_marks (
  name text not null,
  ended_at timestamp with time zone not null,
  last_id uuid not null,
  constraint retention_marks_pkey PRIMARY KEY (name)
);

create table run_claims (
  run_id uuid not null,
  epoch bigint not null,
  claimed_at timestamp with time zone not null,
  constraint run_claims_pkey PRIMARY KEY (run_id)
) with (fillfactor=70);
CREATE INDEX run_claims_age ON pawl.run_claims USING btree (claimed_at);

create table run_events (
  run_id uuid not null,
  seq bigint not null,
  type text not null,
  node_id text not null,
  iteration integer not null,
  attempt integer not null,
  epoch bigint not null,
  ordinal integer not null,
  payload jsonb not null,
  value json,
  at timestamp with time zone not null default now(),
  constraint run_events_pkey PRIMARY KEY (run_id, seq)
) partition by RANGE (run_id);
create table run_events_default partition of run_events DEFAULT;
CREATE UNIQUE INDEX run_events_once ON ONLY pawl.run_events USING btree (run_id, node_id, iteration, attempt, type) WHERE (type = ANY (ARRAY['node.completed'::text, 'node.failed'::text, 'node.retried'::text, 'node.skipped'::text, 'node.cancelled'::text, 'node.timed_out'::text]));
CREATE UNIQUE INDEX run_events_streamed ON ONLY pawl.run_events USING btree (run_id, epoch, type, ordinal) WHERE (type = ANY (ARRAY['node.stream.delta'::text, 'node.log'::text]));

create table run_filters (
  tenant_id text not null,
  name text not null,
  filter text not null,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint run_filters_pkey PRIMARY KEY (tenant_id, name)
);

create table run_metadata (
  run_id uuid not null,
  metadata jsonb not null,
  constraint run_metadata_pkey PRIMARY KEY (run_id)
);
CREATE INDEX run_metadata_values ON pawl.run_metadata USING gin (metadata jsonb_path_ops) WITH (fastupdate=off);

create table run_repairs (
  run_id uuid not null,
  repair_of uuid not null,
  plan_digest text not null,
  constraint run_repairs_pkey PRIMARY KEY (run_id)
);
CREATE INDEX run_repairs_of ON pawl.run_repairs USING btree (repair_of, run_id);

create table run_requests (
  tenant_id text not null,
  request_id text not null,
  request_hash text not null,
  run_id uuid not null,
  constraint run_requests_pkey PRIMARY KEY (tenant_id, request_id)
);

create table run_snapshots (
  run_id uuid not null,
  seq bigint not null,
  format integer not null,
  digest bigint not null,
  body text not null,
  written_at timestamp with time zone not null default now(),
  constraint run_snapshots_pkey PRIMARY KEY (run_id)
);

create table run_webhooks (
  run_id uuid not null,
  place integer not null,
  events text[] not null,
  endpoint_id text,
  url text,
  headers json not null,
  secret bytea,
  constraint run_webhooks_pkey PRIMARY KEY (run_id, place)
);

create table runs (
  run_id uuid not null,
  tenant_id text not null,
  definition_id uuid not null,
  workflow_id text,
  workflow_version integer not null,
  kind text not null,
  status text not null,
  version bigint not null,
  last_seq bigint not null,
  has_failures boolean not null default false,
  priority integer not null default 0,
  error_message text,
  request_id text,
  traceparent text,
  created_at timestamp with time zone not null default now(),
  ended_at timestamp with time zone,
  deadline_at timestamp with time zone not null,
  parent_run_id uuid,
  parent_node_id text,
  parent_iteration integer,
  quarantined_at timestamp with time zone,
  quarantine_reason text,
  quarantine_detail text,
  schedule_id text,
  schedule_at timestamp with time zone,
  thread_id text,
  stop text,
  start_at timestamp with time zone,
  assistant_id text,
  restored_at timestamp with time zone,
  failure_class text,
  constraint runs_kind_check CHECK ((kind = ANY (ARRAY['saved'::text, 'test'::text, 'temporary'::text]))),
  constraint runs_pkey PRIMARY KEY (run_id),
  constraint runs_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'scheduled'::text, 'running'::text, 'waiting'::text, 'retrying'::text, 'paused'::text, 'compensating'::text, 'completed'::text, 'failed'::text, 'cancelled'::text, 'timeout'::text])))
) with (fillfactor=70);
CREATE INDEX runs_by_parent ON pawl.runs USING btree (parent_run_id, run_id) WHERE (parent_run_id IS NOT NULL);
CREATE INDEX runs_by_schedule ON pawl.runs USING btree (tenant_id, schedule_id, run_id DESC) WHERE (schedule_id IS NOT NULL);
CREATE INDEX runs_by_short_id ON pawl.runs USING btree ("right"((run_id)::text, 8));
CREATE INDEX runs_by_workflow ON pawl.runs USING btree (tenant_id, workflow_id, run_id DESC);
CREATE INDEX runs_deadline ON pawl.runs USING btree (deadline_at) WHERE ((ended_at IS NULL) AND (status <> ALL (ARRAY['waiting'::text, 'paused'::text])));
CREATE INDEX runs_ended ON pawl.runs USING btree (status, ended_at, run_id) WHERE (ended_at IS NOT NULL);
CREATE INDEX runs_failed ON pawl.runs USING btree (tenant_id, failure_class, run_id DESC) WHERE (failure_class IS NOT NULL);
CREATE INDEX runs_live_of_assistant ON pawl.runs USING btree (assistant_id) WHERE ((assistant_id IS NOT NULL) AND (ended_at IS NULL));
CREATE INDEX runs_newest ON pawl.runs USING btree (tenant_id, run_id DESC);
CREATE INDEX runs_of_assistant ON pawl.runs USING btree (assistant_id, run_id) WHERE (assistant_id IS NOT NULL);
CREATE INDEX runs_of_thread ON pawl.runs USING btree (thread_id, status) WHERE (thread_id IS NOT NULL);
CREATE INDEX runs_temporary ON pawl.runs USING btree (ended_at, run_id) WHERE ((kind = 'temporary'::text) AND (parent_run_id IS NULL) AND (ended_at IS NOT NULL));
CREATE INDEX runs_waiting ON pawl.runs USING btree (tenant_id, workflow_id) WHERE ((ended_at IS NULL) AND (status = ANY (ARRAY['waiting'::text, 'paused'::text])));

create table schedules (
  tenant_id text not null,
  schedule_id text not null,
  workflow_id text not null,
  workflow_version integer not null,
  expression text not null,
  time_zone text not null,
  input text not null,
  priority integer not null,
  missed text not null,
  overlap text not null,
  version integer not null default 1,
  next_at timestamp with time zone,
  alarm_id uuid,
  paused_at timestamp with time zone,
  paused_by text not null default ''::text,
  pause_reason text not null default ''::text,
  last_at timestamp with time zone,
  last_run_id uuid,
  last_error text not null default ''::text,
  started_count bigint not null default 0,
  skipped_count bigint not null default 0,
  request_id text,
  request_hash text,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint schedules_check CHECK (((next_at IS NULL) = (alarm_id IS NULL))),
  constraint schedules_check1 CHECK (((paused_at IS NULL) OR (next_at IS NULL))),
  constraint schedules_missed_check CHECK ((missed = ANY (ARRAY['skip'::text, 'run_once'::text, 'run_all'::text]))),
  constraint schedules_overlap_check CHECK ((overlap = ANY (ARRAY['allow'::text, 'skip'::text]))),
  constraint schedules_pkey PRIMARY KEY (tenant_id, schedule_id)
) with (fillfactor=70);
CREATE INDEX schedules_by_workflow ON pawl.schedules USING btree (tenant_id, workflow_id, schedule_id);

create table secrets (
  name text not null,
  value bytea not null,
  constraint secrets_pkey PRIMARY KEY (name),
  constraint secrets_value_check CHECK ((octet_length(value) >= 32))
);

create table signal_waits (
  run_id uuid not null,
  node_id text not null,
  iteration integer not null,
  tenant_id text not null,
  name text not null,
  opened_at timestamp with time zone not null default now(),
  deadline_at timestamp with time zone,
  constraint signal_waits_pkey PRIMARY KEY (run_id, node_id, iteration)
);
CREATE INDEX signal_waits_due ON pawl.signal_waits USING btree (deadline_at) WHERE (deadline_at IS NOT NULL);
CREATE INDEX signal_waits_open ON pawl.signal_waits USING btree (tenant_id);

create table slot_keys (
  slot_key text not null,
  slot_limit integer not null,
  wake_at timestamp with time zone,
  constraint slot_keys_pkey PRIMARY KEY (slot_key)
) with (fillfactor=70);
CREATE INDEX slot_keys_wake ON pawl.slot_keys USING btree (wake_at) WHERE (wake_at IS NOT NULL);

create table slots (
  slot_id bigint not null,
  slot_key text not null,
  run_id uuid not null,
  node_id text not null,
  iteration integer not null,
  state text not null,
  free_at timestamp with time zone,
  attempt integer not null,
  node_type text not null,
  priority integer not null,
  share text not null,
  next_key text,
  next_limit integer,
  next_per_ms bigint,
  constraint slots_pkey PRIMARY KEY (run_id, slot_id),
  constraint slots_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'held'::text, 'cooling'::text])))
) with (fillfactor=70);
CREATE UNIQUE INDEX slots_execution ON pawl.slots USING btree (run_id, node_id, iteration, slot_key) WHERE (state <> 'cooling'::text);
CREATE INDEX slots_taken ON pawl.slots USING btree (slot_key, free_at) WHERE (state <> 'waiting'::text);
CREATE INDEX slots_waiting ON pawl.slots USING btree (slot_key, priority, slot_id) WHERE (state = 'waiting'::text);

create table stored_values (
  sha256 text not null,
  generation uuid not null,
  bytes bigint not null,
  digests text[],
  loose_at timestamp with time zone default now(),
  constraint stored_values_pkey PRIMARY KEY (sha256)
);
CREATE INDEX stored_values_loose ON pawl.stored_values USING btree (loose_at) WHERE (loose_at IS NOT NULL);

create table thread_runs (
  tenant_id text not null,
  thread_id text not null,
  position bigint not null,
  run_id uuid not null,
  state text not null,
  turn bigint,
  constraint thread_runs_of FOREIGN KEY (tenant_id, thread_id) REFERENCES threads(tenant_id, thread_id) ON DELETE CASCADE,
  constraint thread_runs_pkey PRIMARY KEY (tenant_id, thread_id, "position"),
  constraint thread_runs_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'holding'::text, 'over'::text])))
) with (fillfactor=80);
CREATE UNIQUE INDEX thread_runs_by_run ON pawl.thread_runs USING btree (run_id);
CREATE UNIQUE INDEX thread_runs_holder ON pawl.thread_runs USING btree (tenant_id, thread_id) WHERE (state = 'holding'::text);
CREATE INDEX thread_runs_turns ON pawl.thread_runs USING btree (tenant_id, thread_id, turn, "position") WHERE (turn IS NOT NULL);
CREATE INDEX thread_runs_waiting ON pawl.thread_runs USING btree (tenant_id, thread_id, "position") WHERE (state = 'waiting'::text);

create table thread_values (
  tenant_id text not null,
  thread_id text not null,
  sha256 text not null,
  constraint thread_values_of FOREIGN KEY (tenant_id, thread_id) REFERENCES threads(tenant_id, thread_id) ON DELETE CASCADE,
  constraint thread_values_pkey PRIMARY KEY (tenant_id, thread_id, sha256),
  constraint thread_values_sha256_fkey FOREIGN KEY (sha256) REFERENCES stored_values(sha256)
);
CREATE INDEX thread_values_sha256 ON pawl.thread_values USING btree (sha256);

create table threads (
  tenant_id text not null,
  thread_id text not null,
  version bigint not null default 1,
  status text not null default 'idle'::text,
  metadata jsonb not null default '{}'::jsonb,
  holder_run_id uuid,
  run_count bigint not null default 0,
  memory json not null default '{}'::json,
  memory_taint jsonb,
  output json,
  state_run_id uuid,
  forked_from text,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  assistant_id text,
  deleted_at timestamp with time zone,
  request_id text,
  constraint threads_assistant FOREIGN KEY (tenant_id, assistant_id) REFERENCES assistants(tenant_id, assistant_id) ON DELETE SET NULL (assistant_id),
  constraint threads_pkey PRIMARY KEY (tenant_id, thread_id),
  constraint threads_status_check CHECK ((status = ANY (ARRAY['idle'::text, 'busy'::text, 'interrupted'::text, 'error'::text])))
) with (fillfactor=80);
CREATE INDEX threads_deleted ON pawl.threads USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);
CREATE INDEX threads_metadata ON pawl.threads USING gin (metadata jsonb_path_ops);
CREATE INDEX threads_of_assistant ON pawl.threads USING btree (tenant_id, assistant_id) WHERE (assistant_id IS NOT NULL);

create table value_garbage (
  generation uuid not null,
  parts integer not null,
  constraint value_garbage_pkey PRIMARY KEY (generation)
);

create table value_parts (
  generation uuid not null,
  part integer not null,
  data bytea not null,
  constraint value_parts_pkey PRIMARY KEY (generation, part)
);

create table value_refs (
  run_id uuid not null,
  sha256 text not null,
  is_named boolean not null default false,
  touched_at timestamp with time zone not null default now(),
  constraint value_refs_pkey PRIMARY KEY (run_id, sha256),
  constraint value_refs_sha256_fkey FOREIGN KEY (sha256) REFERENCES stored_values(sha256)
);
CREATE INDEX value_refs_sha256 ON pawl.value_refs USING btree (sha256);
CREATE INDEX value_refs_unnamed ON pawl.value_refs USING btree (touched_at) WHERE (NOT is_named);

create table webhook_attempts (
  run_id uuid not null,
  delivery_id uuid not null,
  epoch integer not null,
  ended_at timestamp with time zone not null default now(),
  latency_ms double precision not null,
  status_code integer not null,
  error text not null,
  executor_id uuid,
  constraint webhook_attempts_pkey PRIMARY KEY (run_id, delivery_id, epoch)
);

create table webhook_deliveries (
  run_id uuid not null,
  delivery_id uuid not null,
  tenant_id text not null,
  workflow_id text,
  event_type text not null,
  event_id bigint not null,
  node_id text not null,
  iteration integer not null,
  target text not null,
  endpoint_id text,
  url text not null,
  headers json not null,
  secret bytea,
  result text not null,
  run_started_at timestamp with time zone,
  run_ended_at timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  state text not null default 'pending'::text,
  attempts integer not null default 0,
  epoch integer not null default 0,
  due_at timestamp with time zone not null default now(),
  status_code integer not null default 0,
  error text not null default ''::text,
  ended_at timestamp with time zone,
  traceparent text,
  last_event_id bigint,
  constraint webhook_deliveries_pkey PRIMARY KEY (run_id, delivery_id),
  constraint webhook_deliveries_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'delivered'::text, 'dead'::text])))
) with (fillfactor=80);
CREATE INDEX webhook_deliveries_by_id ON pawl.webhook_deliveries USING btree (delivery_id);
CREATE INDEX webhook_deliveries_due ON pawl.webhook_deliveries USING btree (due_at) WHERE (state = 'pending'::text);
CREATE INDEX webhook_deliveries_newest ON pawl.webhook_deliveries USING btree (tenant_id, delivery_id DESC);
CREATE INDEX webhook_deliveries_of_endpoint ON pawl.webhook_deliveries USING btree (tenant_id, endpoint_id, delivery_id DESC) WHERE (endpoint_id IS NOT NULL);
CREATE UNIQUE INDEX webhook_deliveries_once ON pawl.webhook_deliveries USING btree (run_id, event_id, target);
CREATE INDEX webhook_deliveries_over ON pawl.webhook_deliveries USING btree (ended_at) WHERE (state <> 'pending'::text);

create table webhook_endpoints (
  tenant_id text not null,
  endpoint_id text not null,
  url text not null,
  description text not null,
  events text[] not null,
  workflow_ids text[] not null,
  by_reference boolean not null,
  headers json not null,
  secret bytea not null,
  previous_secret bytea,
  previous_until timestamp with time zone,
  disabled_reason text,
  version integer not null default 1,
  request_id text,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  past_requests text[] not null default '{}'::text[],
  constraint webhook_endpoints_pkey PRIMARY KEY (tenant_id, endpoint_id),
  constraint webhook_endpoints_secret_check CHECK (((octet_length(secret) >= 24) AND (octet_length(secret) <= 64)))
);

create table workflow_jobs (
  job_id uuid not null,
  run_id uuid not null,
  command jsonb not null,
  priority integer not null,
  max_attempts integer not null,
  status text not null,
  attempts integer not null,
  worker_id text not null,
  claim_epoch bigint not null,
  visible_until timestamp with time zone not null,
  is_let_go boolean not null default false,
  error text,
  enqueued_at timestamp with time zone not null,
  changed_at timestamp with time zone not null,
  redrive_request text,
  constraint workflow_jobs_pkey PRIMARY KEY (run_id, job_id),
  constraint workflow_jobs_status_check CHECK ((status = ANY (ARRAY['waiting'::text, 'active'::text, 'paused'::text, 'completed'::text, 'dead_letter'::text, 'cancelled'::text, 'discarded'::text])))
) with (fillfactor=70);
CREATE INDEX workflow_jobs_by_id ON pawl.workflow_jobs USING btree (job_id);
CREATE INDEX workflow_jobs_expiry ON pawl.workflow_jobs USING btree (visible_until, job_id) WHERE (status = 'active'::text);
CREATE INDEX workflow_jobs_listed ON pawl.workflow_jobs USING btree (status, enqueued_at DESC, job_id DESC);
CREATE INDEX workflow_jobs_settled ON pawl.workflow_jobs USING btree (changed_at) WHERE (status = ANY (ARRAY['completed'::text, 'cancelled'::text, 'discarded'::text]));
CREATE INDEX workflow_jobs_unsettled ON pawl.workflow_jobs USING btree (status) WHERE (status = ANY (ARRAY['active'::text, 'paused'::text, 'dead_letter'::text]));

create table workflow_words (
  tenant_id text not null,
  workflow_id text not null,
  word text not null,
  constraint workflow_words_pkey PRIMARY KEY (tenant_id, workflow_id, word)
);
CREATE INDEX workflow_words_by_word ON pawl.workflow_words USING btree (tenant_id, word text_pattern_ops);

create table workflows (
  tenant_id text not null,
  workflow_id text not null,
  version integer not null,
  definition_id uuid not null,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint workflows_definition_id_fkey FOREIGN KEY (definition_id) REFERENCES definitions(definition_id),
  constraint workflows_pkey PRIMARY KEY (tenant_id, workflow_id)
);

CREATE OR REPLACE FUNCTION pawl.pawl_assistants_with(tenant text, workflow text, wanted jsonb, after_id text, most integer)
 RETURNS SETOF text
 LANGUAGE sql
 STABLE
 SET enable_bitmapscan TO 'on'
 SET plan_cache_mode TO 'force_custom_plan'
AS $function$
  select assistant_id
  from assistants
  where tenant_id = tenant
    and metadata @> wanted
    and (workflow = '' or workflow_id = workflow)
    and deleted_at is null
    and assistant_id > after_id
  order by assistant_id
  limit most
$function$
;

CREATE OR REPLACE FUNCTION pawl.pawl_require(is_met boolean, state text)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  if is_met then
    return true;
  end if;
  raise exception 'a condition of the statement is not met' using errcode = state;
end
$function$
;

CREATE OR REPLACE FUNCTION pawl.pawl_threads_with(tenant text, wanted_statuses text[], wanted jsonb, after_id text, most integer)
 RETURNS SETOF text
 LANGUAGE sql
 STABLE
 SET enable_bitmapscan TO 'on'
 SET plan_cache_mode TO 'force_custom_plan'
AS $function$
  select thread_id
  from threads
  where tenant_id = tenant
    and metadata @> wanted
    and (cardinality(wanted_statuses) = 0 or status = any (wanted_statuses))
    and deleted_at is null
    and thread_id > after_id
  order by thread_id
  limit most
$function$
;
