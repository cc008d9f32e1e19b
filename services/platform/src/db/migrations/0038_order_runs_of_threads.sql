-- The order in which runs took their thread or ended without it. Streams of a thread read its runs in this order: at most one of them has
-- not ended. A turn is the version of the thread that the move made, so later moves have higher turns. Runs of one move have the same turn,
-- and the order of their positions. Null while the run waits.
alter table thread_runs add column turn bigint;

-- Runs that took their thread before this migration have an order below that of every later move, the one that holds the thread the last.
update thread_runs set turn = case when state = 'holding' then 1 else 0 end where state <> 'waiting';

create index thread_runs_turns on thread_runs (tenant_id, thread_id, turn, position) where turn is not null;
