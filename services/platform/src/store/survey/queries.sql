-- Counts across the whole store.

-- name: figures
-- The figures that a scheduler reads besides the queues.
select
  (
    select extract(epoch from (min(k.wake_at) - now()))::float8 * 1000
    from slot_keys k
    where k.wake_at is not null
  ) as next_rate_slot_ms,
  (
    select count(*)::integer
    from (select 1 from dead_letters where state = 'open' limit 100000) open
  ) as open_dead_letters,
  p.epoch as pause_epoch
from pause_epoch p
where p.is_only
