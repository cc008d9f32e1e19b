-- The effect ledger: what runs did to the outside world.

-- name: page
-- A page of a run's effects after a cursor, each with the attempt whose claim began it. An empty node id means of all nodes.
select f.node_id, f.iteration, f.name, f.class, f.begun_epoch, f.committed_epoch, f.begun_at, f.committed_at, s.attempt
from (
  select e.node_id, e.iteration, e.name, e.class, e.begun_epoch, e.committed_epoch, e.begun_at, e.committed_at
  from effects e
  where e.run_id = :run_id::uuid
    and (:node_id::text = '' or e.node_id = :node_id)
    and (e.node_id, e.iteration, e.name) > (:after_node::text, :after_iteration::integer, :after_name::text)
  order by e.node_id, e.iteration, e.name
  limit :limit::integer
) f
left join lateral (
  select v.attempt
  from run_events v
  where v.run_id = :run_id::uuid
    and v.seq = f.begun_epoch
  limit 1
) s on true
order by f.node_id, f.iteration, f.name
