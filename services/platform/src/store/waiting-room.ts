// What surrounds a run: executors alive, leases of the run, the length of a queue, and the queues that are paused. Read side only, for explanations.

import type { SlotQuestion, WaitingRoom } from "@pawl/core/explain/room";
import type { RunId } from "@pawl/core/name/ids";
import { readClock } from "../db/clock.ts";
import { type Queryable, run } from "../db/sql.ts";
import { BOSS_SCHEMA, queueName } from "../queue/queue-name.ts";
import { ranksOf } from "../queue/turns.ts";
import { readBook } from "./pauses-postgres.ts";
import { readSlotWaits } from "./slot-waits.ts";
import { readAliveExecutors } from "./statements/read-alive-executors.ts";
import { readLeasesOfRun } from "./statements/read-leases-of-run.ts";

const EXECUTORS_MAX = 1_000;
const LEASES_MAX = 10_000;
/** A place in a longer queue is not worth the count. */
const AHEAD_MAX = 1_000;

/** The job whose place in the queue is asked for. */
export interface PlaceInQueue {
  readonly nodeType: string;
  /** Sooner for lower numbers. */
  readonly priority: number;
  readonly queuedAt: number;
}

/** What an explanation asks besides who is alive and who holds what. */
export interface RoomQuestion {
  readonly place?: PlaceInQueue | undefined;
  readonly slots: readonly SlotQuestion[];
}

/** Everything an explanation asks of the present. @throws STORE_UNAVAILABLE */
export async function readWaitingRoom(
  db: Queryable,
  runId: RunId,
  { place, slots }: RoomQuestion,
): Promise<WaitingRoom> {
  const [clock, executors, leases, aheadCount, slotWaits, { pauses }] = await Promise.all([
    readClock(db),
    run<ExecutorRow>(db, readAliveExecutors, [EXECUTORS_MAX]),
    run<LeaseRow>(db, readLeasesOfRun, [runId, LEASES_MAX]),
    place === undefined ? undefined : countAhead(db, place),
    readSlotWaits(db, runId, slots),
    readBook(db),
  ]);
  return {
    now: clock,
    executors: executors.map((row) => ({
      executorId: row.executor_id,
      nodeTypes: row.node_types,
      slots: row.slots,
      heldCount: row.held_count,
    })),
    leases: leases.map((row) => ({
      nodeId: row.node_id,
      iteration: row.iteration,
      epoch: row.epoch,
      executorId: row.executor_id,
      untilAt: row.until?.getTime() ?? 0,
    })),
    ...(aheadCount === undefined ? {} : { aheadCount }),
    slotWaits,
    queuePauses: pauses.flatMap(({ scope, name, by, reason, since }) =>
      scope === "queue" ? [{ nodeType: name, by, reason, since }] : [],
    ),
  };
}

interface ExecutorRow {
  readonly executor_id: string;
  readonly node_types: readonly string[];
  readonly slots: number;
  readonly held_count: number;
}

interface LeaseRow {
  readonly node_id: string;
  readonly iteration: number;
  readonly epoch: number;
  readonly executor_id: string;
  readonly until: Date | null;
}

/** pg-boss takes higher priorities first; older jobs of the same one are counted, whosever turn it is. The count stops at a bound. */
async function countAhead(db: Queryable, place: PlaceInQueue): Promise<number> {
  const [first, after] = ranksOf(place.priority);
  const { rows } = await db.query<{ ahead: number }>({
    name: "pawl_count_ahead",
    text: `
select count(*)::integer as ahead
from (
  select 1
  from ${BOSS_SCHEMA}.job j
  where j.name = $1::text
    and j.state < 'active'
    and j.start_after <= now()
    and j.priority > $2::integer
    and (j.priority > $3::integer or j.created_on < to_timestamp($4::double precision / 1000))
  limit ${AHEAD_MAX}
) waiting`,
    values: [queueName(place.nodeType), -after, -first, place.queuedAt],
  });
  return rows[0]?.ahead ?? 0;
}
