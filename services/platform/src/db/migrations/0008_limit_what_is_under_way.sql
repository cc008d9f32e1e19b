-- Slots of concurrency keys and rates. A row is a slot that one execution holds or waits for; with node_id '' it is the slot of a whole
-- run. The rows are the only count of a key. The transactions that move the execution write them, so no slot can leak. A slot of a rate
-- stays taken (cooling) until free_at, one window after its start.
create table slots (
  slot_id bigint generated always as identity,
  slot_key text not null,
  run_id uuid not null,
  node_id text not null,
  iteration integer not null,
  state text not null,
  free_at timestamptz,
  -- The job that the execution gets once it has its slots.
  attempt integer not null,
  node_type text not null,
  priority integer not null,
  share text not null,
  -- The rate whose slot the execution needs next.
  next_key text,
  next_limit integer,
  next_per_ms bigint,
  constraint slots_pkey primary key (slot_id),
  constraint slots_state_check check (state in ('waiting', 'held', 'cooling'))
) with (fillfactor = 70);

create unique index slots_execution on slots (run_id, node_id, iteration, slot_key) where state <> 'cooling';
create index slots_waiting on slots (slot_key, priority, slot_id) where state = 'waiting';
create index slots_taken on slots (slot_key, free_at) where state <> 'waiting';

-- The lock of a key while its slots are counted and granted. A row exists while the key has slots. wake_at is the time when a cooling slot
-- becomes free, for the keys of rates.
create table slot_keys (
  slot_key text not null,
  slot_limit integer not null,
  wake_at timestamptz,
  constraint slot_keys_pkey primary key (slot_key)
) with (fillfactor = 70);

create index slot_keys_wake on slot_keys (wake_at) where wake_at is not null;
