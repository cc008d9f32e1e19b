-- Recovery. A snapshot is a cache of the fold of a run's log up to `seq`; the log stays the truth. A quarantined run has a
-- log that cannot be trusted or inputs that cannot be applied: it does not move until a person has checked it.
create table run_snapshots (
  run_id uuid primary key,
  seq bigint not null,
  format integer not null,
  -- CRC-32 of the body.
  digest bigint not null,
  body text not null,
  written_at timestamptz not null default now()
);
-- Bodies are of megabytes and written on the way: compressing one took longer than everything else about it.
alter table run_snapshots alter column body set storage external;

alter table runs
  add column quarantined_at timestamptz,
  add column quarantine_reason text,
  add column quarantine_detail text;
