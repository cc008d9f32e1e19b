-- The process that speaks for an executor, as it names itself when it registers; null for one that names none. Another process cannot
-- take the id while this one lives.
alter table executors add column instance_id uuid;
