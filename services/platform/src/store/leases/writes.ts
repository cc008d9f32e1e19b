// Writes executors, and reads the leases that a scheduler must take back.

import type { ExecutorId } from "@pawl/core/name/ids";
import { flag, list, number, orNull, text, uuid } from "../../db/columns.ts";
import { columns, queriesBeside, run } from "../../db/query.ts";
import type { Queryable } from "../../db/sql.ts";
import type { Executors } from "./leases.ts";
import { countAliveExecutors, LEASE, toLease } from "./reads.ts";

/** More leases than any executor has capacity for; bounds the comparison with what the executor reports. */
const LEASES_MAX = 10_000;
/** Dead executors forgotten at once; the next sweep takes the rest. */
const FORGOTTEN_MAX = 1_000;

const declare = queriesBeside(import.meta.url);

const SESSION = { executorId: uuid<ExecutorId>(), sessionId: uuid() };
const register = declare(
  "register",
  {
    ...SESSION,
    nodeTypes: list(text()),
    slots: number(),
    description: text(),
    leaseMs: number(),
    instanceId: orNull(uuid()),
  },
  { executor_id: uuid() },
);
const renew = declare(
  "renew",
  { executorId: list(uuid()), sessionId: list(uuid()), leaseMs: number() },
  { session_id: uuid() },
);
const expire = declare("expire", { ...SESSION, graceMs: number() });
const forgetDead = declare("forget_dead", { olderThanMs: number(), limit: number() });
const expired = declare(
  "expired",
  { limit: number() },
  { ...LEASE, has_left: flag(), limit_ms: orNull(number()) },
);
const ofExecutor = declare(
  "of_executor",
  { executorId: uuid<ExecutorId>(), olderThanMs: number(), limit: number() },
  LEASE,
);

/** Executors over a pool. */
export const createExecutors = (db: Queryable): Executors => ({
  register: async (executor) => (await run(db, register, executor)).length > 0,
  renew: async (sessions, leaseMs) => {
    if (sessions.length === 0) return new Set();
    const ordered = sessions.toSorted((a, b) => (a.executorId < b.executorId ? -1 : 1));
    const speakers = columns(ordered, ["executorId", "sessionId"]);
    const rows = await run(db, renew, { ...speakers, leaseMs });
    return new Set(rows.map((row) => row.session_id));
  },
  countAlive: () => countAliveExecutors(db),
  expireSoon: async (session, graceMs) => {
    await run(db, expire, { ...session, graceMs });
  },
  expiredLeases: async (limit) => {
    const rows = await run(db, expired, { limit });
    return rows.map((row) => ({
      ...toLease(row),
      hasLeft: row.has_left,
      ...(row.limit_ms === null ? {} : { limitMs: row.limit_ms }),
    }));
  },
  leasesOf: async (executorId, olderThanMs) => {
    const rows = await run(db, ofExecutor, { executorId, olderThanMs, limit: LEASES_MAX });
    return rows.map(toLease);
  },
  forgetDead: async (olderThanMs) => {
    await run(db, forgetDead, { olderThanMs, limit: FORGOTTEN_MAX });
  },
});
