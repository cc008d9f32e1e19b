-- When the executor gives up the silent process of a user behind it. Null while the process answers.
alter table executors add column give_up_at timestamptz;
