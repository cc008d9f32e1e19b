-- When a run may begin, if its caller asked for a later start. The job of the run waits until then.
alter table runs add column start_at timestamptz;

-- Temporary runs are deleted soon after their end. Any other run pays nothing for the index.
alter table runs drop constraint runs_kind_check;
alter table runs add constraint runs_kind_check check (kind in ('saved', 'test', 'temporary'));
create index runs_temporary on runs (ended_at, run_id) where kind = 'temporary' and parent_run_id is null and ended_at is not null;
