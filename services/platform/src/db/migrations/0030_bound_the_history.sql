-- Finished runs in the order in which they ended: retention and the folding of stream deltas walk it.
create index runs_ended on runs (status, ended_at, run_id) where ended_at is not null;

-- Up to which ended run a walk of retention has come, so that a later walk begins there.
create table retention_marks (
  name text primary key,
  ended_at timestamptz not null,
  last_id uuid not null
);
