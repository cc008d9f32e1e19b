-- Since when the runs of a thread are being removed. No reader and no start finds the thread from then on.
alter table threads add column deleted_at timestamptz;

-- The request that created the thread, so that its repeat finds it.
alter table threads add column request_id text;

create index threads_deleted on threads (deleted_at) where deleted_at is not null;

-- Threads whose metadata contains a value, without those that are being removed.
create or replace function pawl_threads_with(tenant text, wanted_statuses text[], wanted jsonb, after_id text, most integer) returns setof text
language sql stable
set enable_bitmapscan to on
as $$
  select thread_id
  from threads
  where tenant_id = tenant
    and metadata @> wanted
    and (cardinality(wanted_statuses) = 0 or status = any (wanted_statuses))
    and deleted_at is null
    and thread_id > after_id
  order by thread_id
  limit most
$$;

-- Removed runs whose logs are not deleted yet. A log goes in pages, so a scheduler may die between two of them.
create table removed_logs (
  run_id uuid primary key
);
