// Reads executors and leases.

import type { DefinitionId, NodeId, RunId } from "@pawl/core/name/ids";
import { flag, list, number, orNull, text, time, uuid } from "../../db/columns.ts";
import { first, queriesBeside, type Queryable, type RowOf, run } from "../../db/query.ts";
import { type Lease, LEASE } from "./leases.ts";

const EXECUTORS_MAX = 1_000;
const LEASES_MAX = 10_000;

const declare = queriesBeside(import.meta.url);

const alive = declare(
  "alive",
  { limit: number() },
  {
    executorId: uuid(),
    nodeTypes: list(text()),
    slots: number(),
    heldCount: number(),
    description: text(),
    processName: text(),
    language: text(),
    sdk: text(),
    build: text(),
    schedulerId: orNull(uuid()),
    connectedAt: orNull(time()),
    hasLeft: flag(),
    silentMs: number(),
    giveUpMs: number(),
  },
);
const countAlive = declare("count_alive", {}, { alive: number() });
const ofRuns = declare("of_runs", { runIds: list(uuid()) }, LEASE);
const ofRunUntil = declare(
  "of_run_until",
  { runId: uuid(), limit: number() },
  {
    nodeId: text(),
    iteration: number(),
    epoch: number(),
    executorId: uuid(),
    untilAt: orNull(time()),
  },
);
const count = declare(
  "count",
  { tenantId: text() },
  {
    definitionId: uuid<DefinitionId>(),
    nodeId: text<NodeId>(),
    iteration: number(),
    count: number(),
  },
);

export type AliveExecutor = RowOf<typeof alive>;

/** Executors that are alive, with how many leases each holds. @throws STORE_UNAVAILABLE */
export const readAliveExecutors = (db: Queryable): Promise<AliveExecutor[]> =>
  run(db, alive, { limit: EXECUTORS_MAX });

/** How many executors are alive. @throws STORE_UNAVAILABLE */
export async function countAliveExecutors(db: Queryable): Promise<number> {
  return (await first(db, countAlive, {}))?.alive ?? 0;
}

/** Node types that executors serve now. Warnings about definitions use them. @throws STORE_UNAVAILABLE */
export async function servedTypes(db: Queryable): Promise<ReadonlySet<string>> {
  return new Set((await readAliveExecutors(db)).flatMap((row) => row.nodeTypes));
}

/** Every lease of these runs. @throws STORE_UNAVAILABLE */
export const leasesOfRuns = (db: Queryable, runIds: readonly RunId[]): Promise<Lease[]> =>
  run(db, ofRuns, { runIds });

/** The leases of one run, and when each ends. @throws STORE_UNAVAILABLE */
export const readLeasesOfRun = (db: Queryable, runId: RunId): Promise<RowOf<typeof ofRunUntil>[]> =>
  run(db, ofRunUntil, { runId, limit: LEASES_MAX });

/** Claimed node executions by definition and node. @throws STORE_UNAVAILABLE */
export const countLeases = (db: Queryable, tenantId: string): Promise<RowOf<typeof count>[]> =>
  run(db, count, { tenantId });
