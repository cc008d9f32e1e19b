// Reads executors and leases.

import type { DefinitionId, ExecutorId, NodeId, RunId } from "@pawl/core/name/ids";
import { list, number, orNull, text, time, uuid } from "../../db/columns.ts";
import { queriesBeside, run, type RowOf, type Typed } from "../../db/query.ts";
import type { Queryable } from "../../db/sql.ts";
import type { Lease } from "./leases.ts";

const EXECUTORS_MAX = 1_000;
const LEASES_MAX = 10_000;

const declare = queriesBeside(import.meta.url);

/** The columns of a lease. */
export const LEASE = {
  run_id: uuid<RunId>(),
  node_id: text<NodeId>(),
  iteration: number(),
  epoch: number(),
  executor_id: uuid<ExecutorId>(),
};
const alive = declare(
  "alive",
  { limit: number() },
  { executor_id: uuid(), node_types: list(text()), slots: number(), held_count: number() },
);
const countAlive = declare("count_alive", {}, { alive: number() });
const ofRuns = declare("of_runs", { runIds: list(uuid()) }, LEASE);
const ofRunUntil = declare(
  "of_run_until",
  { runId: uuid(), limit: number() },
  {
    node_id: text(),
    iteration: number(),
    epoch: number(),
    executor_id: uuid(),
    until: orNull(time()),
  },
);
const count = declare(
  "count",
  { tenantId: text() },
  {
    definition_id: uuid<DefinitionId>(),
    node_id: text<NodeId>(),
    iteration: number(),
    count: number(),
  },
);

export const toLease = (row: Typed<typeof LEASE>): Lease => ({
  runId: row.run_id,
  nodeId: row.node_id,
  iteration: row.iteration,
  epoch: row.epoch,
  executorId: row.executor_id,
});

/** Executors that are alive, with how many leases each holds. @throws STORE_UNAVAILABLE */
export async function readAliveExecutors(db: Queryable): Promise<RowOf<typeof alive>[]> {
  return await run(db, alive, { limit: EXECUTORS_MAX });
}

/** How many executors are alive. @throws STORE_UNAVAILABLE */
export async function countAliveExecutors(db: Queryable): Promise<number> {
  const [row] = await run(db, countAlive, {});
  return row?.alive ?? 0;
}

/** Node types that executors serve now: warnings about definitions compare with them. @throws STORE_UNAVAILABLE */
export async function servedTypes(db: Queryable): Promise<ReadonlySet<string>> {
  return new Set((await readAliveExecutors(db)).flatMap((row) => row.node_types));
}

/** Every lease of these runs. @throws STORE_UNAVAILABLE */
export async function leasesOfRuns(db: Queryable, runIds: readonly RunId[]): Promise<Lease[]> {
  return (await run(db, ofRuns, { runIds })).map(toLease);
}

/** The leases of one run, and until when each lasts. @throws STORE_UNAVAILABLE */
export async function readLeasesOfRun(
  db: Queryable,
  runId: RunId,
): Promise<RowOf<typeof ofRunUntil>[]> {
  return await run(db, ofRunUntil, { runId, limit: LEASES_MAX });
}

/** Claimed node executions by definition and node. @throws STORE_UNAVAILABLE */
export async function countLeases(db: Queryable, tenantId: string): Promise<RowOf<typeof count>[]> {
  return await run(db, count, { tenantId });
}
