-- Until when a claim may last, by its node's timeout and a grace; null for claims from before this was kept.
alter table leases add column deadline_at timestamptz;
