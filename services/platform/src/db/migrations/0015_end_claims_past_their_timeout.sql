-- The end of a claim, by its node's timeout and a grace. Null for claims from before this migration.
alter table leases add column deadline_at timestamptz;
