-- When a run came back from the archive. Null for every other run. Retention counts the age of a restored run from here.
alter table runs add column restored_at timestamptz;
