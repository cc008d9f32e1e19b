-- Pauses of whole workflows and whole queues (node types). The pause of a single run is in the log only.
create table pauses (
  scope text not null check (scope in ('workflow', 'queue')),
  tenant_id text not null,
  -- A workflow id or a node type.
  name text not null,
  -- pausing and resuming: some runs of the workflow have not followed yet. A queue is paused at once, and its row is deleted when it
  -- resumes.
  state text not null check (state in ('pausing', 'paused', 'resuming')),
  -- The epoch of pauses in which it got this state. A decision on an older epoch is too late.
  epoch bigint not null,
  paused_by text not null,
  reason text not null,
  since timestamptz not null default now(),
  resumed_by text not null default '',
  resume_reason text not null default '',
  -- When a scheduler last worked on the runs that have not followed. Other schedulers wait for a while.
  tended_at timestamptz not null default now(),
  primary key (scope, tenant_id, name)
) with (fillfactor = 80);

-- One row: a number that grows with every change of pauses. A tick that starts or claims something names the number it decided on.
create table pause_epoch (
  is_only boolean primary key default true check (is_only),
  epoch bigint not null
) with (fillfactor = 10);
insert into pause_epoch (epoch) values (1);
