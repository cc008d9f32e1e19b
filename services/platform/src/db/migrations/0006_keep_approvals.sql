-- The deadline of a run does not count while the run waits or is paused. It moves when the run continues.
drop index runs_deadline;
create index runs_deadline on runs (deadline_at) where ended_at is null and status not in ('waiting', 'paused');
create index runs_waiting on runs (tenant_id, workflow_id) where ended_at is null and status in ('waiting', 'paused');

-- Approvals: the open questions of the log as a table. The transactions that write the events also write the rows.
create table approvals (
  approval_id uuid primary key,
  tenant_id text not null,
  run_id uuid not null,
  -- Null for a test run.
  workflow_id text,
  node_id text not null,
  iteration integer not null,
  -- approval or moderation_hold, or a reason that an executor of the user gives.
  reason text not null,
  message text not null,
  details jsonb,
  assignees text[] not null,
  state text not null default 'open' check (state in ('open', 'approved', 'rejected', 'timed_out', 'cancelled')),
  opened_at timestamptz not null default now(),
  deadline_at timestamptz,
  closed_at timestamptz,
  decided_by text not null default '',
  comment text not null default '',
  response jsonb
) with (fillfactor = 80);

create index approvals_newest on approvals (tenant_id, approval_id desc);
create index approvals_open on approvals (tenant_id, approval_id desc) where state = 'open';
create index approvals_by_run on approvals (run_id, approval_id desc);
create index approvals_due on approvals (deadline_at) where state = 'open' and deadline_at is not null;
