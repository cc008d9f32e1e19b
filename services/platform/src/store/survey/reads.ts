// Reads what waits where, out of the tables of all nouns. Counts stop at a bound, so a long backlog costs no more than that.

import type { WaitingRoom } from "@pawl/core/explain/room";
import type { RunId } from "@pawl/core/name/ids";
import { readClock } from "../../db/clock.ts";
import { number, orNull } from "../../db/columns.ts";
import { queriesBeside, run } from "../../db/query.ts";
import type { Queryable } from "../../db/sql.ts";
import { countAhead, countWaitingJobs } from "../../queue/reads.ts";
import { countOpenApprovals } from "../approvals/reads.ts";
import { countOpenDeadLetters } from "../dead-letters/reads.ts";
import { countLeases, readAliveExecutors, readLeasesOfRun } from "../leases/reads.ts";
import { readPauses } from "../pauses/reads.ts";
import { countSlotWaits, readSlotWaits } from "../slots/reads.ts";
import type { Depths, RoomQuestion, Survey, TypeDepth, TypeOf } from "./survey.ts";

const figures = queriesBeside(import.meta.url)(
  "figures",
  {},
  {
    next_rate_slot_ms: orNull(number()),
    open_dead_letters: number(),
    pause_epoch: number(),
  },
);

/** A survey but for the queues. @throws STORE_UNAVAILABLE */
export async function readFigures(db: Queryable): Promise<Omit<Survey, "queues">> {
  const [row] = await run(db, figures, {});
  return {
    nextRateSlotMs: row?.next_rate_slot_ms ?? undefined,
    openDeadLetters: row?.open_dead_letters ?? 0,
    pauseEpoch: row?.pause_epoch ?? 0,
  };
}

type Counted = Exclude<keyof TypeDepth, "nodeType">;

/** How many node executions are where. @throws STORE_UNAVAILABLE */
export async function readDepths(db: Queryable, tenantId: string, typeOf: TypeOf): Promise<Depths> {
  const [jobs, slots, leases, dead, paused] = await Promise.all([
    countWaitingJobs(db),
    countSlotWaits(db),
    countLeases(db, tenantId),
    countOpenDeadLetters(db, tenantId),
    countOpenApprovals(db, tenantId),
  ]);
  const types = new Map<string, Record<Counted, number>>();
  const add = (counted: Counted, nodeType: string, count: number): void => {
    const depth = types.get(nodeType) ?? { waiting: 0, active: 0, deadLetter: 0 };
    depth[counted] += count;
    if (count > 0) types.set(nodeType, depth);
  };
  for (const { node_type, count } of [...jobs, ...slots]) add("waiting", node_type, count);
  for (const { node_type, count } of dead) add("deadLetter", node_type, count);
  for (const { definition_id, node_id, iteration, count } of leases) {
    // A user may delete a test run meanwhile.
    const nodeType = await typeOf(definition_id, node_id, iteration);
    if (nodeType !== undefined) add("active", nodeType, count);
  }
  const byName = [...types].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return { types: byName.map(([nodeType, depth]) => ({ nodeType, ...depth })), paused };
}

/** Everything an explanation asks of the present. @throws STORE_UNAVAILABLE */
export async function readWaitingRoom(
  db: Queryable,
  runId: RunId,
  { place, slots }: RoomQuestion,
): Promise<WaitingRoom> {
  const [now, executors, leases, aheadCount, slotWaits, { pauses }] = await Promise.all([
    readClock(db),
    readAliveExecutors(db),
    readLeasesOfRun(db, runId),
    place === undefined ? undefined : countAhead(db, place),
    readSlotWaits(db, runId, slots),
    readPauses(db),
  ]);
  return {
    now,
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
