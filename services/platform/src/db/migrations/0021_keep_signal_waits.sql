-- Waits for signals: the executions that a signal ends, as a table. The transactions that write the events also write the rows. A row is
-- deleted when its wait ends, so the table is as small as the number of waits.
create table signal_waits (
  run_id uuid not null,
  node_id text not null,
  iteration integer not null,
  tenant_id text not null,
  name text not null,
  opened_at timestamptz not null default now(),
  deadline_at timestamptz,
  primary key (run_id, node_id, iteration)
);

create index signal_waits_due on signal_waits (deadline_at) where deadline_at is not null;
create index signal_waits_open on signal_waits (tenant_id);
