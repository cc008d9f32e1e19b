-- The process that represents an executor, by the id it registers with. Null if it registers without one. Another process cannot use the
-- executor's id while this one lives.
alter table executors add column instance_id uuid;
