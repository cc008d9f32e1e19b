// New runs at version 1 with their first events and leases, in one statement. A request id used before violates runs_request,
// and with it the whole transaction. So does a run that assumed its definition to be the newest of its workflow when it is
// not: the guard divides by zero then. The other guard takes a root of less than zero unless the pauses are the ones it was decided
// on (`pauses-postgres.ts`). The seqs of a new run are known beforehand.

import type { Statement } from "../../db/sql.ts";
import { ANNOUNCE_ENDS, ENDING } from "../announced-ends.ts";

export const createRuns: Statement = {
  name: "pawl_create_runs",
  text: `
with inserted as (
  insert into runs (
    run_id, tenant_id, definition_id, workflow_id, workflow_version, kind, status, version, last_seq,
    has_failures, priority, error_message, request_id, request_hash, traceparent, deadline_at, ended_at,
    parent_run_id, parent_node_id, parent_iteration, schedule_id, schedule_at
  )
  select
    n.run_id, n.tenant_id, n.definition_id, n.workflow_id, n.workflow_version, n.kind, n.status, 1, n.event_count,
    n.has_failures, n.priority, n.error_message, n.request_id, n.request_hash, n.traceparent,
    to_timestamp(n.deadline_at / 1000.0), case when n.ended then now() end,
    n.parent_run_id, n.parent_node_id, n.parent_iteration, n.schedule_id, to_timestamp(n.schedule_at / 1000.0)
  from unnest(
    $1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::integer[], $6::text[], $7::text[], $8::integer[],
    $9::boolean[], $10::integer[], $11::text[], $12::text[], $13::text[], $14::text[], $15::double precision[], $16::boolean[],
    $17::boolean[], $18::uuid[], $19::text[], $20::integer[], $37::text[], $38::double precision[]
  ) as n (
    run_id, tenant_id, definition_id, workflow_id, workflow_version, kind, status, event_count,
    has_failures, priority, error_message, request_id, request_hash, traceparent, deadline_at, ended,
    assumes_newest, parent_run_id, parent_node_id, parent_iteration, schedule_id, schedule_at
  )
  left join workflows w
    on n.assumes_newest
    and w.tenant_id = n.tenant_id
    and w.workflow_id = n.workflow_id
    and w.definition_id = n.definition_id
  where not n.assumes_newest
    or w.definition_id is not null
  returning 1
),
appended as (
  insert into run_events (run_id, seq, type, node_id, iteration, attempt, epoch, ordinal, payload, value)
  select e.run_id, e.seq, e.type, e.node_id, e.iteration, e.attempt, e.epoch, 0, e.payload, e.value
  from unnest(
    $21::uuid[], $22::bigint[], $23::text[], $24::text[], $25::integer[], $26::integer[], $27::bigint[],
    $28::jsonb[], $29::json[]
  ) as e (run_id, seq, type, node_id, iteration, attempt, epoch, payload, value)
  returning ${ENDING} as ending
),
opened as (
  insert into leases (run_id, node_id, iteration, epoch, attempt, executor_id, deadline_at)
  select o.run_id, o.node_id, o.iteration, o.epoch, o.attempt, o.executor_id, now() + o.limit_ms * interval '1 millisecond'
  from unnest(
    $30::uuid[], $31::text[], $32::integer[], $33::bigint[], $34::integer[], $35::uuid[], $40::double precision[]
  ) as o (run_id, node_id, iteration, epoch, attempt, executor_id, limit_ms)
)
select
  1 / (case when (select count(*) from inserted) = cardinality($1::uuid[]) then 1 else 0 end) as held,
  sqrt(case when $39::bigint < 0 or $39::bigint = (select p.epoch from pause_epoch p where p.is_only) then 1 else -1 end) as ruled,
  ${ANNOUNCE_ENDS} as ends,
  case when $36::text <> '' then pg_notify('pawl_runs', $36::text) end
`,
};
