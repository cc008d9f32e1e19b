// Keeps and deletes samples. Each command is one statement.

import { flag, list, lists, number, orNull, text } from "../../db/columns.ts";
import { columns, first, queriesBeside, type Queryable, run } from "../../db/query.ts";
import { POOL, PROCESS, type Stats, TOTAL_LOAD } from "./stats.ts";

const declare = queriesBeside(import.meta.url);
const INTERVAL = { intervalMs: number() };
const due = declare("due", INTERVAL, { isMissing: flag(), nextInMs: number() });
const put = declare(
  "put",
  {
    ...INTERVAL,
    ...TOTAL_LOAD,
    nodeTypes: list(text()),
    typeSlots: list(number()),
    typeActive: list(number()),
    typeWaiting: list(number()),
    typeOldestMs: list(orNull(number())),
    typeMedianMs: list(orNull(number())),
  },
  { kept: number() },
);
const putPools = declare("put_pools", { ...INTERVAL, ...PROCESS, ...lists(POOL) });
const forget = declare("forget", { olderThanMs: number(), limit: number() }, { deleted: number() });

/** Samples over a pool. */
export const createStats = (db: Queryable): Stats => ({
  due: async (intervalMs) =>
    (await first(db, due, { intervalMs })) ?? { isMissing: false, nextInMs: intervalMs },
  put: async (intervalMs, { total, types }) => {
    const row = await first(db, put, {
      ...{ intervalMs, ...total },
      nodeTypes: types.map(({ nodeType }) => nodeType),
      typeSlots: types.map(({ slots }) => slots),
      typeActive: types.map(({ active }) => active),
      typeWaiting: types.map(({ waiting }) => waiting),
      typeOldestMs: types.map(({ oldestMs }) => oldestMs),
      typeMedianMs: types.map(({ medianMs }) => medianMs),
    });
    return row?.kept === 1;
  },
  putPools: async (intervalMs, process, pools) => {
    const rows = columns(pools, ["kind", "pool", "size", "inUse", "idle"]);
    await run(db, putPools, { intervalMs, ...process, ...rows });
  },
  forget: async (olderThanMs, limit) =>
    (await first(db, forget, { olderThanMs, limit }))?.deleted === limit,
});
