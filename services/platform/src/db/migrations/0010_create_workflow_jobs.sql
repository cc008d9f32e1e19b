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
  -- Deliveries that failed or were lost; one that was let go or paused is not among them.
  attempts integer not null,
  worker_id text not null,
  -- The run's epoch when this job was claimed last: the fence of every call about the claim.
  claim_epoch bigint not null,
  visible_until timestamptz not null,
  -- The claimant ended its own visibility: the job comes back without a delivery being counted.
  is_let_go boolean not null default false,
  error text,
  enqueued_at timestamptz not null,
  changed_at timestamptz not null
) with (fillfactor = 70);

-- What is claimed now, by when its claim runs out.
create index workflow_jobs_expiry on workflow_jobs (visible_until, job_id) where status = 'active';
-- Small: what is over and well has left it.
create index workflow_jobs_unsettled on workflow_jobs (status) where status in ('active', 'paused', 'dead_letter');
create index workflow_jobs_settled on workflow_jobs (changed_at) where status = 'completed';
create index workflow_jobs_of_run on workflow_jobs (run_id);

-- How often a run has been claimed by a command: each claim takes the next epoch.
create table run_claims (
  run_id uuid primary key,
  epoch bigint not null,
  claimed_at timestamptz not null
) with (fillfactor = 70);

create index run_claims_age on run_claims (claimed_at);
