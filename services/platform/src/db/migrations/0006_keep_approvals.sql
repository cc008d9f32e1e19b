-- The deadline of a run that waits or is paused is not looked at: it moves when the run goes on.
drop index runs_deadline;
create index runs_deadline on runs (deadline_at) where ended_at is null and status not in ('waiting', 'paused');
