-- The effect ledger: the effects of a node execution on the outside world, by any attempt or delivery. Rows change only under the lock of
-- their run, together with the lease that fences them. They are deleted with their run.
create table effects (
  run_id uuid not null,
  node_id text not null,
  iteration integer not null,
  name text not null,
  -- The promise: the target's own transaction, the receiver's deduplication, or no second try.
  class text not null check (class in ('transactional', 'idempotent', 'at_most_once')),
  -- The claim that began it first.
  begun_epoch bigint not null,
  -- The claim that committed the effect. Null while that is unknown.
  committed_epoch bigint,
  result jsonb,
  begun_at timestamptz not null default now(),
  committed_at timestamptz,
  primary key (run_id, node_id, iteration, name)
) with (fillfactor = 80);
