-- Recovery. A snapshot is a cache of the fold of a run's log up to `seq`; the log stays the truth. A quarantined run is one whose
-- log cannot be trusted or whose inputs the engine cannot take: nothing of it moves until somebody has looked.
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
