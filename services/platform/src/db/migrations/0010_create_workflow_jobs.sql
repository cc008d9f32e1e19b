-- Commands about whole runs (start, resume) that a worker has claimed at least once. Before that, a command is only a job of pg-boss;
-- after that, this row holds its state, and pg-boss holds a job only while the command waits.
create table workflow_jobs (
  job_id uuid primary key,
  run_id uuid not null,
  -- The command as it was enqueued.
  command jsonb not null,
  -- Lower is sooner.
  priority integer not null,
  max_attempts integer not null,
  status text not null check (status in ('waiting', 'active', 'paused', 'completed', 'dead_letter')),
  -- Deliveries that failed or were lost. A delivery that was given back or paused does not count.
  attempts integer not null,
  worker_id text not null,
  -- The run's epoch of the last claim of this job. Every call about the claim is fenced by it.
  claim_epoch bigint not null,
  visible_until timestamptz not null,
  -- The worker ended its own claim. The job waits again, and no delivery is counted.
  is_let_go boolean not null default false,
  error text,
  enqueued_at timestamptz not null,
  changed_at timestamptz not null
) with (fillfactor = 70);

-- The claimed jobs, by the end of their claim.
create index workflow_jobs_expiry on workflow_jobs (visible_until, job_id) where status = 'active';
-- A small index: it does not hold the jobs that succeeded.
create index workflow_jobs_unsettled on workflow_jobs (status) where status in ('active', 'paused', 'dead_letter');
create index workflow_jobs_settled on workflow_jobs (changed_at) where status = 'completed';
create index workflow_jobs_of_run on workflow_jobs (run_id);

-- How often commands have claimed a run. Each claim takes the next epoch.
create table run_claims (
  run_id uuid primary key,
  epoch bigint not null,
  claimed_at timestamptz not null
) with (fillfactor = 70);

create index run_claims_age on run_claims (claimed_at);
