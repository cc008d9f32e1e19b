-- The finished run that a run repairs. The scheduler writes the row in the transaction that starts the new run.
create table run_repairs (
  run_id uuid primary key,
  repair_of uuid not null,
  plan_digest text not null
);

create index run_repairs_of on run_repairs (repair_of, run_id);
