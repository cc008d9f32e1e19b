// Invariants between the receivers of runs, the outbox and the log: a delivery for each receiver of the end of a run, and none without its event.

/** Receivers that have no delivery of the end of their run, or several, and deliveries whose run never had the event. */
export const WEBHOOK_FAULTS = `
select w.run_id || ': receiver ' || w.place || ' has ' || count(d.delivery_id) || ' deliveries of ' || e.type as fault
from pawl.run_webhooks w
join pawl.runs r using (run_id)
join pawl.run_events e on e.run_id = w.run_id and e.seq = r.last_seq and e.type = any (w.events)
left join pawl.webhook_deliveries d on d.run_id = w.run_id and d.event_id = e.seq and d.target = 'run ' || w.place
where r.ended_at is not null
  and ($1::uuid[] is null or w.run_id = any ($1))
group by w.run_id, w.place, e.type
having count(d.delivery_id) <> 1
union all
select d.run_id || ': delivery ' || d.delivery_id || ' has no event ' || d.event_type
from pawl.webhook_deliveries d
join pawl.runs r using (run_id)
left join pawl.run_events e on e.run_id = d.run_id and e.seq = d.event_id and e.type = d.event_type
where e.run_id is null
  and ($1::uuid[] is null or d.run_id = any ($1))`;
