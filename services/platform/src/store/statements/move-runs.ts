// Everything that happens to live runs in a tick, in one statement: compare-and-swap, events, leases closed and opened, hint.
// It fails by itself (division by zero) unless every run is at the version it was planned on, and (a root of less than zero) unless
// the pauses are the ones it was decided under, where that matters (`pauses-postgres.ts`).
//
// One statement instead of seven, since each answers with a packet that wakes the scheduler: a hop of a lone run went from
// 2.07 to 1.68 ms, a chain of many gained 9 % (both builds loaded by turns). What it says of a run's events and leases refers to the run by its place in the first arrays, so the seqs
// come from an array instead of a join. Callers pass runs in order of id, and the nested loop that the connection's pinned
// plans force locks them in that order; events and leases wait for `heads`, which waits for all of them.

import type { Statement } from "../../db/sql.ts";
import { ANNOUNCE_ENDS, ENDING } from "../announced-ends.ts";

export const moveRuns: Statement = {
  name: "pawl_move_runs",
  text: `
with moved as (
  update runs r
  set
    version = r.version + 1,
    last_seq = r.last_seq + c.event_count,
    status = c.status,
    has_failures = c.has_failures,
    error_message = c.error_message,
    ended_at = case when c.ended then now() end
  from unnest(
    $1::uuid[], $2::bigint[], $3::integer[], $4::text[], $5::boolean[], $6::text[], $7::boolean[]
  ) with ordinality as c (run_id, version, event_count, status, has_failures, error_message, ended, place)
  where r.run_id = c.run_id
    and r.version = c.version
  returning c.place, r.last_seq
),
heads as materialized (
  select
    coalesce(array_agg(last_seq order by place), '{}') as seqs,
    1 / (case when count(*) = cardinality($1::uuid[]) then 1 else 0 end) as held
  from moved
),
appended as (
  insert into run_events (run_id, seq, type, node_id, iteration, attempt, epoch, ordinal, payload, value)
  select
    ($1::uuid[])[e.place], h.seqs[e.place] - e.back, e.type, e.node_id, e.iteration, e.attempt,
    case when e.epoch < 0 then h.seqs[e.place] - e.back else e.epoch end, 0, e.payload, e.value
  from heads h,
    unnest(
      $8::integer[], $9::integer[], $10::text[], $11::text[], $12::integer[], $13::integer[], $14::bigint[],
      $15::jsonb[], $16::json[]
    ) as e (place, back, type, node_id, iteration, attempt, epoch, payload, value)
  returning ${ENDING} as ending
),
closed as (
  delete from leases l
  using unnest($17::uuid[], $18::text[], $19::integer[]) as c (run_id, node_id, iteration)
  where l.run_id = c.run_id
    and l.node_id = c.node_id
    and l.iteration = c.iteration
    and (select held from heads) = 1
  returning 1
),
opened as (
  insert into leases (run_id, node_id, iteration, epoch, attempt, executor_id, deadline_at)
  select
    ($1::uuid[])[o.place], o.node_id, o.iteration, h.seqs[o.place] - o.back, o.attempt, o.executor_id,
    now() + o.limit_ms * interval '1 millisecond'
  from heads h,
    unnest(
      $20::integer[], $21::text[], $22::integer[], $23::integer[], $24::integer[], $25::uuid[], $28::double precision[]
    ) as o (place, node_id, iteration, back, attempt, executor_id, limit_ms)
  -- A claim that is taken back and given away at once has the same key: first the one, then the other.
  where (select count(*) from closed) >= 0
)
select
  h.seqs::double precision[] as seqs,
  h.held,
  sqrt(case when $27::bigint < 0 or $27::bigint = (select p.epoch from pause_epoch p where p.is_only) then 1 else -1 end) as ruled,
  ${ANNOUNCE_ENDS} as ends,
  case when $26::text <> '' then pg_notify('pawl_runs', $26::text) end
from heads h
`,
};
