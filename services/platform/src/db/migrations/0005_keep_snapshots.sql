-- Recovery. A snapshot is a cache of the fold of a run's log up to `seq`. The log stays the truth. A run in quarantine has a damaged log,
-- or inputs that cannot be applied. It does not advance until a person has checked it.
create table run_snapshots (
  run_id uuid primary key,
  seq bigint not null,
  format integer not null,
  -- CRC-32 of the body.
  digest bigint not null,
  body text not null,
  written_at timestamptz not null default now()
);
-- Bodies have megabytes, and the scheduler writes them while it works. Compression took longer than all other work on a snapshot.
alter table run_snapshots alter column body set storage external;

alter table runs
  add column quarantined_at timestamptz,
  add column quarantine_reason text,
  add column quarantine_detail text;
