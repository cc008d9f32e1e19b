-- What is held as a whole: a workflow, or a queue (a node type). A run that is held by itself is in the log only.
create table pauses (
  scope text not null check (scope in ('workflow', 'queue')),
  tenant_id text not null,
  -- A workflow id or a node type.
  name text not null,
  -- pausing and resuming: some runs of the workflow have yet to follow. A queue is paused at once, and gone once resumed.
  state text not null check (state in ('pausing', 'paused', 'resuming')),
  -- The epoch of pauses in which it got this state: a decision made on an older epoch is too late.
  epoch bigint not null,
  paused_by text not null,
  reason text not null,
  since timestamptz not null default now(),
  resumed_by text not null default '',
  resume_reason text not null default '',
  -- When a scheduler last worked on the runs that have yet to follow: other schedulers leave it alone for a while.
  tended_at timestamptz not null default now(),
  primary key (scope, tenant_id, name)
) with (fillfactor = 80);

-- One row: a number that grows with every change of pauses. Ticks that start or claim something say which they decided on.
create table pause_epoch (
  is_only boolean primary key default true check (is_only),
  epoch bigint not null
) with (fillfactor = 10);
insert into pause_epoch (epoch) values (1);
