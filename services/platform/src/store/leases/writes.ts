// Writes executors and extensions of leases. Reads the leases that a scheduler must take back. The tick opens and closes leases with its
// own statements (store/tick).

import type { ExecutorId } from "@pawl/core/name/ids";
import { flag, list, lists, number, orNull, text, uuid } from "../../db/columns.ts";
import {
  columns,
  queriesBeside,
  type Queryable,
  run,
  type Send,
  valuesOf,
} from "../../db/query.ts";
import { type Executors, type Extension, type HandlerProcess, LEASE } from "./leases.ts";
import { countAliveExecutors } from "./reads.ts";

/** More leases than any executor has capacity for; bounds the comparison with the executor's own report. */
const LEASES_MAX = 10_000;
/** The most dead executors that one sweep deletes. The next sweep takes the rest. */
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
    schedulerId: orNull(uuid()),
    processName: text(),
    language: text(),
    sdk: text(),
    build: text(),
    webhookSlots: number(),
  },
  { executorId: uuid() },
);
const RENEWAL = { ...SESSION, slots: orNull(number()), silentMs: number(), giveUpMs: number() };
const renew = declare("renew", { ...lists(RENEWAL), leaseMs: number() }, { sessionId: uuid() });
const servedByOthers = declare(
  "served_by_others",
  { executorId: uuid<ExecutorId>(), nodeTypes: list(text()) },
  { nodeType: text() },
);
const NO_PROCESS: HandlerProcess = { processName: "", language: "", sdk: "", build: "" };
const expire = declare("expire", { ...SESSION, graceMs: number() });
const forgetDead = declare("forget_dead", { olderThanMs: number(), limit: number() });
const EXPIRED = { ...LEASE, hasLeft: flag(), limitMs: orNull(number()) };
const expired = declare("expired", { limit: number() }, EXPIRED);
const ofExecutor = declare(
  "of_executor",
  { executorId: uuid<ExecutorId>(), olderThanMs: number(), limit: number() },
  LEASE,
);
const extend = declare("extend", lists({ ...LEASE, extendMs: number() }), { held: flag() });

/** Extends leases, in the transaction of a tick that has locked the rows of the runs. Returns for each whether its claim holds. */
export async function extendLeases(
  send: Send,
  extensions: readonly Extension[],
): Promise<readonly boolean[]> {
  const rows = await send(extend, valuesOf(extend, extensions));
  return rows.map(({ held }) => held);
}

/** Executors over a pool. */
export const createExecutors = (db: Queryable): Executors => ({
  register: async ({ process = NO_PROCESS, webhookSlots = 0, ...executor }) =>
    (await run(db, register, { ...executor, ...process, webhookSlots })).length > 0,
  renew: async (sessions, leaseMs) => {
    if (sessions.length === 0) return new Set();
    const ordered = sessions
      .map(({ executorId, sessionId, slots = null, silentMs = 0, giveUpMs = 0 }) => ({
        executorId,
        sessionId,
        slots,
        silentMs,
        giveUpMs,
      }))
      .toSorted((a, b) => (a.executorId < b.executorId ? -1 : 1));
    const names = ["executorId", "sessionId", "slots", "silentMs", "giveUpMs"] as const;
    const values = { ...columns(ordered, names), leaseMs };
    const rows = await run(db, renew, values);
    return new Set(rows.map((row) => row.sessionId));
  },
  servedByOthers: async (executorId, nodeTypes) => {
    const rows = await run(db, servedByOthers, { executorId, nodeTypes });
    return new Set(rows.map(({ nodeType }) => nodeType));
  },
  countAlive: () => countAliveExecutors(db),
  expireSoon: async (session, graceMs) => {
    await run(db, expire, { ...session, graceMs });
  },
  expiredLeases: async (limit) => {
    const rows = await run(db, expired, { limit });
    return rows.map(({ limitMs, ...lease }) => (limitMs === null ? lease : { ...lease, limitMs }));
  },
  leasesOf: (executorId, olderThanMs) =>
    run(db, ofExecutor, { executorId, olderThanMs, limit: LEASES_MAX }),
  forgetDead: async (olderThanMs) => {
    await run(db, forgetDead, { olderThanMs, limit: FORGOTTEN_MAX });
  },
});
