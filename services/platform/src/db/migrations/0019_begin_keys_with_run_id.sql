-- Prepares the tables for distribution over servers by run. Values that must be unique across runs have a table of their own. Every other
-- unique key of a table with a run_id begins with it.

-- The run that each request id started. input_keys is the other table of this kind.
create table run_requests (
  tenant_id text not null,
  request_id text not null,
  -- sha256 of the request. The scheduler refuses the same id with another request.
  request_hash text not null,
  run_id uuid not null,
  primary key (tenant_id, request_id)
);

insert into run_requests (tenant_id, request_id, request_hash, run_id)
select tenant_id, request_id, coalesce(request_hash, ''), run_id
from runs
where request_id is not null;

drop index runs_request;

-- runs.request_id stays: it finds the row of run_requests when a user deletes the run.
alter table runs drop column request_hash;

alter table approvals drop constraint approvals_pkey;

alter table approvals add primary key (run_id, approval_id);

drop index approvals_by_run;

create index approvals_by_id on approvals (approval_id);

alter table dead_letters drop constraint dead_letters_pkey;

drop index dead_letters_once;

alter table dead_letters add primary key (run_id, node_id, iteration);

alter table slots drop constraint slots_pkey;

alter table slots add primary key (run_id, slot_id);

alter table workflow_jobs drop constraint workflow_jobs_pkey;

alter table workflow_jobs add primary key (run_id, job_id);

drop index workflow_jobs_of_run;

create index workflow_jobs_by_id on workflow_jobs (job_id);
