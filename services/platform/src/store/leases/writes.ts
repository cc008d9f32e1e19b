// Writes executors and extensions of leases, and reads the leases that a scheduler must take back. The tick opens and closes leases
// with its own statements (store/tick).

import type { ExecutorId } from "@pawl/core/name/ids";
import { flag, list, number, orNull, text, uuid } from "../../db/columns.ts";
import { columns, queriesBeside, run, type Send } from "../../db/query.ts";
import type { Queryable } from "../../db/sql.ts";
import { CLAIM_FIELDS, type Executors, type Extension } from "./leases.ts";
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
const extend = declare(
  "extend",
  {
    runId: list(uuid()),
    nodeId: list(text()),
    iteration: list(number()),
    epoch: list(number()),
    executorId: list(uuid()),
    extendMs: list(number()),
  },
  { held: flag() },
);

/** Extends leases, in the transaction of a tick that has locked the rows of the runs. Says of each whether its claim holds. */
export async function extendLeases(
  send: Send,
  extensions: readonly Extension[],
): Promise<readonly boolean[]> {
  const rows = await send(extend, columns(extensions, [...CLAIM_FIELDS, "extendMs"]));
  return rows.map(({ held }) => held);
}

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
