-- The trace of the run, so that a call continues it also after the run was deleted. The last event that the record of a delivery knows; null
-- in deliveries of an earlier version.
alter table webhook_deliveries
  add column traceparent text,
  add column last_event_id bigint;

-- The requests that wrote a receiver before the last one. A repeat of them changes nothing.
alter table webhook_endpoints add column past_requests text[] not null default '{}';
