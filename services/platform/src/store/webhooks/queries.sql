-- Webhooks: receivers, the outbox of deliveries, and the log of calls. Empty parameters of a filter mean all.

-- part: endpoint
endpoint_id, url, description, events, workflow_ids, by_reference,
  coalesce((select array_agg(key order by key) from json_object_keys(headers) as keys (key)), '{}') as header_names,
  version, disabled_reason, case when previous_until > now() then previous_until end as previous_until, created_at, updated_at

-- part: delivery
run_id, delivery_id, workflow_id, event_type, event_id, endpoint_id, url, state, attempts, status_code, error, created_at, due_at,
  ended_at

-- part: raise_epoch
raised as (
  update pause_epoch
  set epoch = epoch + 1
  where is_only
  returning pg_notify('pawl_pauses', epoch::text)
)

-- part: receiver
coalesce(d.endpoint_id, substring(lower(d.url) from '^[a-z]+://([^/?#]*)'), d.url)

-- name: take_turn
-- Begins a creation. Creations take turns at the row of the epoch, so each of them counts the receivers of those before it. The new epoch
-- makes every scheduler read the receivers before its next end of a run.
with {raise_epoch}
select 1 as turn

-- name: create
-- Saves a receiver. Returns no row if the id is taken, or if there are as many as there may be.
insert into webhook_endpoints (
  tenant_id, endpoint_id, url, description, events, workflow_ids, by_reference, headers, secret, request_id
)
select
  :tenant_id::text, :endpoint_id::text, :url::text, :description::text, :events::text[], :workflow_ids::text[],
  :by_reference::boolean, :headers::text::json, :secret::bytea, :request_id::text
where (select count(*) from webhook_endpoints where tenant_id = :tenant_id::text) < :most::integer
on conflict (tenant_id, endpoint_id) do nothing
returning {endpoint}

-- name: update
-- Replaces a receiver of the expected version, unless this request wrote it before. A header with an empty value keeps its value.
with {raise_epoch}
update webhook_endpoints e
set url = :url::text,
  description = :description::text,
  events = :events::text[],
  workflow_ids = :workflow_ids::text[],
  by_reference = :by_reference::boolean,
  headers = coalesce((
    select json_object_agg(h.key, case when h.value = '' then coalesce(e.headers ->> h.key, '') else h.value end)
    from json_each_text(:headers::text::json) h
  ), '{}'),
  disabled_reason = :disabled_reason::text,
  past_requests = case
    when request_id is null then past_requests
    else (array_prepend(request_id, past_requests))[1:16]
  end,
  request_id = :request_id::text,
  version = version + 1,
  updated_at = now()
where tenant_id = :tenant_id::text
  and endpoint_id = :endpoint_id::text
  and :expected_version::integer in (0, version)
  and not coalesce(:request_id = any (array_append(past_requests, request_id)), false)
returning {endpoint}

-- name: remove
-- Removes a receiver.
delete from webhook_endpoints
where tenant_id = :tenant_id::text
  and endpoint_id = :endpoint_id::text
returning endpoint_id

-- name: rotate
-- Gives another secret. The present one signs beside it for a time.
update webhook_endpoints
set previous_secret = secret,
  previous_until = now() + :overlap_ms::double precision * interval '1 millisecond',
  secret = :secret::bytea,
  version = version + 1,
  updated_at = now()
where tenant_id = :tenant_id::text
  and endpoint_id = :endpoint_id::text
returning {endpoint}

-- name: one
-- One receiver.
select {endpoint}
from webhook_endpoints
where tenant_id = :tenant_id::text
  and endpoint_id = :endpoint_id::text

-- name: kept
-- Whether this request wrote a receiver, and its secret.
select coalesce(:request_id::text = any (array_append(past_requests, request_id)), false) as is_repeat, secret, version
from webhook_endpoints
where tenant_id = :tenant_id::text
  and endpoint_id = :endpoint_id::text

-- name: page
-- Receivers in order of id.
select {endpoint}
from webhook_endpoints
where tenant_id = :tenant_id::text
  and endpoint_id > :after::text
order by endpoint_id
limit :limit::integer

-- name: keep
-- Stores the receivers of runs that begin in this transaction.
insert into run_webhooks (run_id, place, events, endpoint_id, url, headers, secret)
select w.run_id, w.place, string_to_array(w.events, ' '), w.endpoint_id, w.url, w.headers::json, decode(w.secret, 'base64')
from unnest(
  :run_id::uuid[], :place::integer[], :events::text[], :endpoint_id::text[], :url::text[], :headers::text[], :secret::text[]
) as w (run_id, place, events, endpoint_id, url, headers, secret)

-- name: post
-- Inserts a delivery for each receiver of each event. The rows of the runs are those of this transaction, so their last seq gives the event.
-- The id of a delivery is the id of the event with its last part from the receiver.
insert into webhook_deliveries (
  run_id, delivery_id, tenant_id, workflow_id, event_type, event_id, node_id, iteration, target, endpoint_id, url, headers, secret,
  result, run_started_at, run_ended_at, traceparent, last_event_id
)
select
  p.run_id, (left(p.base_id::text, 24) || left(md5(p.base_id || t.target), 12))::uuid, r.tenant_id, r.workflow_id, p.event_type,
  r.last_seq - p.back, p.node_id, p.iteration, t.target, t.endpoint_id, t.url, t.headers, t.secret, p.result,
  coalesce(
    (
      select e.at
      from run_events e
      where e.run_id = p.run_id
        and e.type in ('node.started', 'node.blocked')
      order by e.seq
      limit 1
    ),
    case when r.ended_at is not null then r.created_at end
  ),
  r.ended_at, r.traceparent, r.last_seq
from unnest(
  :run_id::uuid[], :back::integer[], :event_type::text[], :node_id::text[], :iteration::integer[], :result::text[],
  :base_id::uuid[]
) as p (run_id, back, event_type, node_id, iteration, result, base_id)
join runs r on r.run_id = p.run_id
cross join lateral (
  select 'run ' || w.place as target, w.endpoint_id, coalesce(w.url, e.url, '') as url, w.headers, w.secret
  from run_webhooks w
  left join webhook_endpoints e on e.tenant_id = r.tenant_id
    and e.endpoint_id = w.endpoint_id
  where w.run_id = p.run_id
    and p.event_type = any (w.events)
  union all
  select e.endpoint_id, e.endpoint_id, e.url, '{}'::json, null
  from webhook_endpoints e
  where e.tenant_id = r.tenant_id
    and r.workflow_id is not null
    and e.disabled_reason is null
    and not e.by_reference
    and p.event_type = any (e.events)
    and (cardinality(e.workflow_ids) = 0 or r.workflow_id = any (e.workflow_ids))
) t
where r.ended_at is not null
  or (select count(*) from (select 1 from webhook_deliveries d where d.run_id = p.run_id limit 1000) d) < 1000

-- name: claim
-- Claims due deliveries, the oldest first, and at most a share for each receiver together with the calls that are made now. Rows that
-- another scheduler claims now are skipped. The endpoint gives URL, headers and secrets as they are now; a URL of the run itself stays.
with found as (
  select d.run_id, d.delivery_id, d.due_at, r.receiver, coalesce(b.calls, 0) as calls
  from webhook_deliveries d
  cross join lateral (select {receiver} as receiver) r
  left join unnest(:busy::text[], :calls::integer[]) as b (receiver, calls) on b.receiver = r.receiver
  where d.state = 'pending'
    and d.due_at <= now()
    and coalesce(b.calls, 0) < :share::integer
  order by d.due_at
  limit :looked_at::integer
), placed as (
  select run_id, delivery_id, receiver, calls + row_number() over (partition by receiver order by due_at) as place
  from found
), due as (
  select d.run_id, d.delivery_id, p.receiver
  from placed p
  join webhook_deliveries d on d.run_id = p.run_id
    and d.delivery_id = p.delivery_id
  where p.place <= :share
    and d.state = 'pending'
    and d.due_at <= now()
  order by d.due_at
  limit :limit::integer
  for update of d skip locked
), claimed as (
  update webhook_deliveries d
  set epoch = d.epoch + 1,
    due_at = now() + :lease_ms::double precision * interval '1 millisecond'
  from due
  where d.run_id = due.run_id
    and d.delivery_id = due.delivery_id
  returning d.*, due.receiver
)
select
  c.run_id, c.delivery_id, c.epoch, c.event_type, c.event_id, c.last_event_id, c.node_id, c.iteration, c.result, c.created_at,
  c.run_started_at, c.run_ended_at, c.traceparent, c.receiver, c.attempts, case when c.target = c.endpoint_id then coalesce(e.url, c.url) else c.url end as url,
  (coalesce(e.headers, '{}')::jsonb || c.headers::jsonb)::json as headers, coalesce(e.secret, c.secret) as secret,
  case when e.previous_until > now() then e.previous_secret end as previous_secret,
  case
    when c.endpoint_id is null then ''
    when e.endpoint_id is null then 'there is no endpoint ' || c.endpoint_id
    when e.disabled_reason is not null then 'the endpoint is switched off: ' || e.disabled_reason
    else ''
  end as refusal
from claimed c
left join webhook_endpoints e on e.tenant_id = c.tenant_id
  and e.endpoint_id = c.endpoint_id
order by c.created_at, c.delivery_id

-- name: settle
-- Records a call, if its claim is the present one. A receiver that wants no more switches its endpoint off. Without an endpoint it gets no
-- further event of this run: its row is deleted, and its other deliveries are dead. A tick that inserts a delivery at the same time may
-- still see the row. Then the receiver gets one more call.
with settled as (
  update webhook_deliveries
  set state = :state::text,
    attempts = attempts + 1,
    due_at = now() + :delay_ms::double precision * interval '1 millisecond',
    status_code = :status_code::integer,
    error = :error::text,
    ended_at = case when :state = 'pending' then null else now() end
  where run_id = :run_id::uuid
    and delivery_id = :delivery_id::uuid
    and epoch = :epoch::integer
    and state not in ('delivered', 'dead')
  returning run_id, delivery_id, epoch, tenant_id, endpoint_id, target
), logged as (
  insert into webhook_attempts (run_id, delivery_id, epoch, latency_ms, status_code, error, executor_id)
  select run_id, delivery_id, epoch, :latency_ms::double precision, :status_code, :error, :executor_id::uuid
  from settled
), disabled as (
  update webhook_endpoints e
  set disabled_reason = 'the receiver answered 410 Gone',
    version = version + 1,
    updated_at = now()
  from settled s
  where :is_gone::boolean
    and e.tenant_id = s.tenant_id
    and e.endpoint_id = s.endpoint_id
    and e.disabled_reason is null
), closed as (
  delete from run_webhooks w
  using settled s
  where :is_gone
    and s.endpoint_id is null
    and w.run_id = s.run_id
    and 'run ' || w.place = s.target
), ended as (
  update webhook_deliveries d
  set state = 'dead',
    error = 'the receiver answered 410 Gone to another event of this run',
    ended_at = now()
  from settled s
  where :is_gone
    and s.endpoint_id is null
    and d.run_id = :run_id
    and d.target = s.target
    and d.delivery_id <> s.delivery_id
    and d.state not in ('delivered', 'dead')
)
select run_id
from settled

-- name: release
-- Ends claims after a time. A report of such a claim still counts until another claim begins.
update webhook_deliveries d
set due_at = least(d.due_at, now() + :grace_ms::double precision * interval '1 millisecond')
from unnest(:run_id::uuid[], :delivery_id::uuid[], :epoch::integer[]) as c (run_id, delivery_id, epoch)
where d.run_id = any (:run_id)
  and d.run_id = c.run_id
  and d.delivery_id = c.delivery_id
  and d.epoch = c.epoch
  and d.state not in ('delivered', 'dead')

-- name: redeliver
-- Makes a delivery due now with all its attempts. One that an executor calls now keeps its claim.
update webhook_deliveries d
set state = 'pending',
  attempts = case when d.state = 'pending' then d.attempts else 0 end,
  due_at = case
    when d.state = 'pending'
      and d.due_at <= now() + :lease_ms::double precision * interval '1 millisecond' then d.due_at
    else now()
  end,
  ended_at = null
where tenant_id = :tenant_id::text
  and delivery_id = :delivery_id::uuid
returning {delivery}

-- name: forget
-- Deletes deliveries that are over for this time, with their calls.
with old as (
  select run_id, delivery_id
  from webhook_deliveries
  where state <> 'pending'
    and ended_at < now() - :older_than_ms::double precision * interval '1 millisecond'
  order by ended_at
  limit :limit::integer
), calls as (
  delete from webhook_attempts a
  using old
  where a.run_id = old.run_id
    and a.delivery_id = old.delivery_id
)
delete from webhook_deliveries d
using old
where d.run_id = old.run_id
  and d.delivery_id = old.delivery_id
returning d.delivery_id

-- name: deliveries
-- Deliveries, newest first.
select {delivery}
from webhook_deliveries
where tenant_id = :tenant_id::text
  and (:run_id::text = '' or run_id = nullif(:run_id, '')::uuid)
  and (:endpoint_id::text = '' or endpoint_id = :endpoint_id)
  and (cardinality(:states::text[]) = 0 or state = any (:states))
  and delivery_id < :before::uuid
order by delivery_id desc
limit :limit::integer

-- name: of_run
-- The newest deliveries of a run.
select {delivery}
from webhook_deliveries
where run_id = :run_id::uuid
order by delivery_id desc
limit :limit::integer

-- name: delivery
-- One delivery.
select {delivery}
from webhook_deliveries
where tenant_id = :tenant_id::text
  and delivery_id = :delivery_id::uuid

-- name: body
-- What the body of a delivery is made of.
select run_id, delivery_id, event_type, event_id, last_event_id, node_id, iteration, result, created_at, run_started_at, run_ended_at
from webhook_deliveries
where tenant_id = :tenant_id::text
  and delivery_id = :delivery_id::uuid

-- name: attempts
-- The newest calls of a delivery.
select epoch as number, ended_at, latency_ms, status_code, error, executor_id
from webhook_attempts
where run_id = :run_id::uuid
  and delivery_id = :delivery_id::uuid
order by epoch desc
limit :limit::integer

-- name: callers
-- How many executors can make calls now.
select count(*)::integer as count
from executors
where webhook_slots > 0
  and alive_until > now()
  and left_at is null
