// Liveness of executors in Postgres. Every time is the database's own, so schedulers with different clocks agree on who is dead.

import { executorId, nodeId, runId } from "@pawl/core/name/ids";
import { run, type Queryable } from "../db/sql.ts";
import type { Executors } from "./executors.ts";
import type { Lease } from "./journal.ts";
import { countAliveExecutors } from "./statements/count-alive-executors.ts";
import { expireExecutor } from "./statements/expire-executor.ts";
import { expiredLeases } from "./statements/expired-leases.ts";
import { forgetExecutors } from "./statements/forget-executors.ts";
import { leasesOfExecutor } from "./statements/leases-of-executor.ts";
import { registerExecutor } from "./statements/register-executor.ts";
import { renewExecutors } from "./statements/renew-executors.ts";

/** More leases than any executor has slots; bounds the comparison with what it says it holds. */
const LEASES_MAX = 10_000;
/** Dead executors forgotten in one go; the next sweep takes the rest. */
const FORGOTTEN_MAX = 1_000;

interface LeaseRow {
  readonly run_id: string;
  readonly node_id: string;
  readonly iteration: number;
  readonly epoch: number;
  readonly executor_id: string;
}

interface ExpiredRow extends LeaseRow {
  readonly has_left: boolean;
  readonly limit_ms: number | null;
}

const toLease = (row: LeaseRow): Lease => ({
  runId: runId(row.run_id),
  nodeId: nodeId(row.node_id),
  iteration: row.iteration,
  epoch: row.epoch,
  executorId: executorId(row.executor_id),
});

/** Executors over a pool. */
export function createExecutors(db: Queryable): Executors {
  return {
    register: async (executor) => {
      const rows = await run(db, registerExecutor, [
        executor.executorId,
        executor.sessionId,
        executor.nodeTypes,
        executor.slots,
        executor.description,
        executor.leaseMs,
        executor.instanceId,
      ]);
      return rows.length > 0;
    },
    renew: async (sessions, leaseMs) => {
      if (sessions.length === 0) return new Set();
      const ordered = sessions.toSorted((a, b) => (a.executorId < b.executorId ? -1 : 1));
      const ids = ordered.map((session) => session.executorId);
      const speakers = ordered.map((session) => session.sessionId);
      const rows = await run<{ readonly session_id: string }>(db, renewExecutors, [
        ids,
        speakers,
        leaseMs,
      ]);
      return new Set(rows.map((row) => row.session_id));
    },
    countAlive: async () => {
      const [row] = await run<{ readonly alive: number }>(db, countAliveExecutors, []);
      return row?.alive ?? 0;
    },
    expireSoon: async ({ executorId: id, sessionId }, graceMs) => {
      await run(db, expireExecutor, [id, sessionId, graceMs]);
    },
    expiredLeases: async (limit) => {
      const rows = await run<ExpiredRow>(db, expiredLeases, [limit]);
      return rows.map((row) => ({
        ...toLease(row),
        hasLeft: row.has_left,
        ...(row.limit_ms === null ? {} : { limitMs: row.limit_ms }),
      }));
    },
    leasesOf: async (id, olderThanMs) => {
      const rows = await run<LeaseRow>(db, leasesOfExecutor, [id, olderThanMs, LEASES_MAX]);
      return rows.map(toLease);
    },
    forgetDead: async (olderThanMs) => {
      await run(db, forgetExecutors, [olderThanMs, FORGOTTEN_MAX]);
    },
  };
}
