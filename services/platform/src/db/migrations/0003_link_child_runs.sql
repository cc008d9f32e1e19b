-- The node execution that waits for a run. The log has it in run.started. This column is for readers of the row.
alter table runs
  add column parent_run_id uuid,
  add column parent_node_id text,
  add column parent_iteration integer;

create index runs_by_parent on runs (parent_run_id, run_id) where parent_run_id is not null;
