// Reads samples of the system: the newest, and the past in steps.

import { number, text, time } from "../../db/columns.ts";
import { queriesBeside, type Queryable, type RowOf, run } from "../../db/query.ts";
import {
  type NewestStats,
  POINT,
  type PointQuestion,
  PROCESS_POOL,
  RUN_LOAD,
  type StatPoint,
  TYPE_LOAD,
  type TypeLoad,
} from "./stats.ts";

/** Pools that one answer shows. */
const POOLS_MAX = 1_000;

const declare = queriesBeside(import.meta.url);
const newest = declare("newest", {}, { ...TYPE_LOAD, ...RUN_LOAD, takenAt: time() });
const newestPools = declare("newest_pools", { limit: number() }, PROCESS_POOL);
const RANGE = { rangeMs: number(), stepMs: number() };
const points = declare("points", { nodeType: text(), ...RANGE }, POINT);
const poolPoints = declare("pool_points", RANGE, {
  at: time(),
  connections: number(),
  connectionsInUse: number(),
});

/** The newest sample, if there is one. @throws STORE_UNAVAILABLE */
export async function readNewestStats(db: Queryable): Promise<NewestStats | undefined> {
  const [rows, pools] = await Promise.all([
    run(db, newest, {}),
    run(db, newestPools, { limit: POOLS_MAX }),
  ]);
  const [first, ...others] = rows;
  if (first === undefined) return undefined;
  const { nodeType: _nodeType, takenAt, ...total } = first;
  return { takenAt, total, types: others.map(loadOfType), pools };
}

/** The past, the oldest step first. A step without a sample has no point. @throws STORE_UNAVAILABLE */
export async function readStatPoints(db: Queryable, asked: PointQuestion): Promise<StatPoint[]> {
  const { rangeMs, stepMs, nodeType } = asked;
  const [samples, pools] = await Promise.all([
    run(db, points, asked),
    nodeType === "" ? run(db, poolPoints, { rangeMs, stepMs }) : [],
  ]);
  const connections = new Map(pools.map((point) => [point.at, point]));
  const none = { connections: 0, connectionsInUse: 0 };
  return samples.map((point) => ({ ...none, ...connections.get(point.at), ...point }));
}

function loadOfType(row: RowOf<typeof newest>): TypeLoad {
  const { nodeType, slots, active, waiting, oldestMs, medianMs } = row;
  return { nodeType, slots, active, waiting, oldestMs, medianMs };
}
