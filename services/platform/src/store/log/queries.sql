-- The log of events. A seq becomes visible after every seq before it, because ticks write them under the lock of the run's row.

-- part: at
-- Milliseconds. Parsing times as text took the driver a quarter of the time of a long log. The half microsecond corrects the rounding of
-- the double.
floor(date_part('epoch', e.at) * 1000 + 0.0005) as at

-- part: event
e.run_id, e.seq, e.type, e.node_id, e.iteration, e.attempt, e.epoch, e.payload, e.value::text as value, {at}

-- part: page
-- A page of one log after a cursor: at most `limit` events and about `bytes_max` bytes of the users' JSON, but always at least one
-- event. So a page of large outputs cannot fill the reader's memory. One index range on the primary key.
from (
  select
    page.*,
    coalesce(
      sum(octet_length(page.value)) over (order by page.seq rows between unbounded preceding and 1 preceding), 0
    ) as bytes_before
  from (
    select {event}
    from run_events e
    where e.run_id = :run_id::uuid
      and e.seq > :after_seq::bigint
    order by e.seq
    limit :limit::integer
  ) page
) sized
where bytes_before < :bytes_max::bigint

-- name: page
-- The page as rows.
select run_id, seq, type, node_id, iteration, attempt, epoch, payload, value, at
{page}
order by seq

-- name: page_to_fold
-- The page as one JSON value. For 50,000 events it costs the driver a third of the time of rows.
select json_agg(json_build_array(seq, type, node_id, iteration, attempt, epoch, payload, value, at) order by seq) as events
{page}

-- name: pages_of_many
-- Pages of many logs, each after its own cursor. `place` is the request that a row answers. At most `limit` events per log and
-- about `bytes_max` bytes of the users' JSON in all. The sum runs in order of (place, seq), so it cuts off the end of a page,
-- never its middle. One index range per log.
select place, run_id, seq, type, node_id, iteration, attempt, epoch, payload, value, at
from (
  select
    cursors.place,
    page.*,
    coalesce(
      sum(octet_length(page.value)) over (
        order by cursors.place, page.seq rows between unbounded preceding and 1 preceding
      ), 0
    ) as bytes_before
  from unnest(:run_id::uuid[], :after_seq::bigint[]) with ordinality as cursors (run_id, after_seq, place)
  cross join lateral (
    select {event}
    from run_events e
    where e.run_id = cursors.run_id
      and e.seq > cursors.after_seq
    order by e.seq
    limit :limit::integer
  ) page
) sized
where bytes_before < :bytes_max::bigint
order by place, seq

-- name: load
-- The events of many runs for the fold, each log after its own cursor. It reads up to the seq of the run's row, so that the row and its log
-- agree.
select {event}
from unnest(:run_id::uuid[], :after_seq::bigint[], :last_seq::bigint[]) as c (run_id, after_seq, last_seq)
join run_events e on e.run_id = c.run_id and e.seq > c.after_seq and e.seq <= c.last_seq
where e.type not in ('node.stream.delta', 'node.log')
order by e.run_id, e.seq

-- name: count
-- How many events each run has from a seq up to its last, with stream deltas. It shows a gap in a log. It reads the primary key only.
select c.run_id, count(e.seq)::integer as event_count
from unnest(:run_id::uuid[], :from_seq::bigint[], :last_seq::bigint[]) as c (run_id, from_seq, last_seq)
join run_events e on e.run_id = c.run_id and e.seq >= c.from_seq and e.seq <= c.last_seq
group by c.run_id

-- name: origin
-- How a run began, for a run that starts again: the first event of its log, and its metadata as they are now.
select e.value::text as input, e.payload as started, m.metadata::text as metadata
from run_events e
left join run_metadata m on m.run_id = e.run_id
where e.run_id = :run_id::uuid
  and e.seq = 1
  and e.type = 'run.started'

-- name: tagged
-- The events of a run that have a tag, after a cursor. An empty node id means all nodes. Outputs may be large and few tags show a value, so
-- the value is read only for the types that need it.
select e.run_id, e.seq, e.type, e.node_id, e.iteration, e.attempt, e.epoch, e.payload,
  case when e.type = any (:types_with_value::text[]) then e.value::text end as value, {at}
from run_events e
where e.run_id = :run_id::uuid
  and e.seq > :after_seq::bigint
  and (:node_id::text = '' or e.node_id = :node_id::text)
  and e.type = any (:types::text[])
order by e.seq
limit :limit::integer

-- part: held
-- The lease that a claim names. The run rows are locked by then, and leases change only under that lock.
l.run_id = s.run_id
    and l.node_id = s.node_id
    and l.iteration = s.iteration
    and l.epoch = s.epoch
    and l.executor_id = s.executor_id

-- part: is_new
-- Stream deltas that are not in the log.
not exists (
    select 1
    from run_events e
    where e.run_id = s.run_id
      and e.epoch = s.epoch
      and e.type = s.type
      and e.ordinal = s.ordinal
      and e.type in ('node.stream.delta', 'node.log')
  )

-- name: make_room
-- Makes room in the log for new stream deltas whose claim is still that of the lease. Returns for each whether its claim holds. Nothing
-- changes before `append_streamed`, so both count the same rows. It unnests the input twice: one CTE for both would hide its size from the
-- planner, which then reads whole indexes.
with counted as (
  update runs r
  set last_seq = r.last_seq + v.fact_count
  from (
    select s.run_id, count(*) as fact_count
    from unnest(
      :run_id::uuid[], :node_id::text[], :iteration::integer[], :epoch::bigint[], :executor_id::uuid[], :type::text[],
      :ordinal::integer[]
    ) as s (run_id, node_id, iteration, epoch, executor_id, type, ordinal)
    join leases l on {held}
    where {is_new}
    group by s.run_id
  ) v
  where r.run_id = v.run_id
)
select l.run_id is not null as held
from unnest(:run_id::uuid[], :node_id::text[], :iteration::integer[], :epoch::bigint[], :executor_id::uuid[])
  with ordinality as s (run_id, node_id, iteration, epoch, executor_id, arrival)
left join leases l on {held}
order by s.arrival

-- name: append_streamed
-- Appends the stream deltas that `make_room` made room for, in the order given.
insert into run_events (run_id, seq, type, node_id, iteration, attempt, epoch, ordinal, payload)
select
  v.run_id, r.last_seq - v.fact_count + v.place, v.type, v.node_id, v.iteration, v.attempt, v.epoch, v.ordinal, v.payload
from (
  select
    s.*,
    l.attempt,
    row_number() over (partition by s.run_id order by s.arrival) as place,
    count(*) over (partition by s.run_id) as fact_count
  from unnest(
    :run_id::uuid[], :node_id::text[], :iteration::integer[], :epoch::bigint[], :executor_id::uuid[], :type::text[],
    :ordinal::integer[], :payload::jsonb[]
  ) with ordinality as s (run_id, node_id, iteration, epoch, executor_id, type, ordinal, payload, arrival)
  join leases l on {held}
  where {is_new}
) v
join runs r on r.run_id = v.run_id

-- name: next_deltas
-- One more than the largest index of each execution's deltas. It reads the stream deltas of the runs, so the scheduler asks only for
-- executions that were claimed before.
select coalesce(max(e.ordinal) + 1, 0) as next
from unnest(:run_id::uuid[], :node_id::text[], :iteration::integer[])
  with ordinality as s (run_id, node_id, iteration, arrival)
left join run_events e
  on e.run_id = s.run_id
  and e.node_id = s.node_id
  and e.iteration = s.iteration
  and e.type = 'node.stream.delta'
  and e.type in ('node.stream.delta', 'node.log')
group by s.arrival
order by s.arrival
