// Leases and executors in memory, by the store's clock.

import type { StagedRows } from "../memory/staging.ts";
import type { Tables } from "../memory/store.ts";
import type {
  ClaimKey,
  Executors,
  ExecutorSession,
  Extension,
  HandlerProcess,
  Lease,
  LeaseKey,
  NewLease,
} from "./leases.ts";

export interface LeaseRow extends Lease {
  readonly attempt: number;
  readonly leasedAt: number;
  readonly extendedUntil: number | null;
  readonly limitMs: number | null;
}

export interface ExecutorRow extends ExecutorSession {
  readonly instanceId: string | null;
  readonly nodeTypes: readonly string[];
  readonly slots: number;
  readonly description: string;
  readonly schedulerId: string | null;
  readonly process?: HandlerProcess;
  /** How long the user's process was silent at the last renewal. */
  readonly silentMs?: number;
  /** How much longer its executor waited for it then. */
  readonly giveUpMs?: number;
  readonly aliveUntil: number;
  /** Whether the connection of the executor ended. */
  readonly hasLeft: boolean;
}

/** The primary key of a lease. */
export const leaseKey = (key: LeaseKey): string => `${key.runId}/${key.nodeId}/${key.iteration}`;

/** The lease, if this is its claim. */
export function heldLease({ leases }: StagedRows, claim: ClaimKey): LeaseRow | undefined {
  const lease = leases.get(leaseKey(claim));
  return lease?.epoch === claim.epoch && lease.executorId === claim.executorId ? lease : undefined;
}

export function openLease(
  { leases, now }: StagedRows,
  { back, limitMs, ...lease }: NewLease,
  lastSeq: number,
): void {
  const times = { leasedAt: now, extendedUntil: null, limitMs: limitMs ?? null };
  const row = { ...lease, epoch: lastSeq - back, ...times };
  leases.insert(leaseKey(lease), row, "leases_pkey");
}

export function extendLease(rows: StagedRows, extension: Extension): boolean {
  const lease = heldLease(rows, extension);
  if (lease === undefined) return false;
  rows.leases.set(leaseKey(extension), { ...lease, extendedUntil: rows.now + extension.extendMs });
  return true;
}

const toLease = ({ runId, nodeId, iteration, epoch, executorId }: LeaseRow): Lease => ({
  runId,
  nodeId,
  iteration,
  epoch,
  executorId,
});

/** Executors over the tables. */
export function createMemoryExecutors(tables: Tables, now: () => number): Executors {
  const { executors, leases } = tables;
  /** The executor's row, if this session still represents it. */
  const spokenFor = ({ executorId, sessionId }: ExecutorSession): ExecutorRow | undefined => {
    const row = executors.get(executorId);
    return row?.sessionId === sessionId ? row : undefined;
  };
  const isDead = (row: ExecutorRow | undefined): boolean =>
    row === undefined || row.aliveUntil <= now();
  const isAbandoned = ({ executorId, extendedUntil }: LeaseRow): boolean =>
    isDead(executors.get(executorId)) && (extendedUntil === null || extendedUntil <= now());
  const isOverdue = ({ leasedAt, limitMs }: LeaseRow): boolean =>
    limitMs !== null && leasedAt + limitMs <= now();
  return {
    register: async ({ leaseMs, ...columns }) => {
      const row = executors.get(columns.executorId);
      const isTaken = row !== undefined && row.instanceId !== columns.instanceId;
      if (isTaken && !row.hasLeft && !isDead(row)) return false;
      const alive = { aliveUntil: now() + leaseMs, hasLeft: false };
      executors.set(columns.executorId, { ...columns, ...alive });
      return true;
    },
    renew: async (sessions, leaseMs) => {
      const current = sessions.filter((session) => spokenFor(session) !== undefined);
      for (const session of current) {
        const row = spokenFor(session);
        const { slots = row?.slots ?? 0, silentMs = 0, giveUpMs = 0 } = session;
        const renewed = { slots, silentMs, giveUpMs, aliveUntil: now() + leaseMs };
        if (row !== undefined) executors.set(row.executorId, { ...row, ...renewed });
      }
      return new Set(current.map((row) => row.sessionId));
    },
    servedByOthers: async (executorId, nodeTypes) => {
      const others = [...executors.values()].filter(
        (row) => row.executorId !== executorId && !row.hasLeft && !isDead(row),
      );
      const served = new Set(others.flatMap((row) => row.nodeTypes));
      return new Set(nodeTypes.filter((type) => served.has(type)));
    },
    countAlive: async () => [...executors.values()].filter((row) => !isDead(row)).length,
    expireSoon: async (session, graceMs) => {
      const row = spokenFor(session);
      if (row === undefined) return;
      const aliveUntil = Math.min(row.aliveUntil, now() + graceMs);
      executors.set(row.executorId, { ...row, aliveUntil, hasLeft: true });
    },
    expiredLeases: async (limit) =>
      [...leases]
        .filter(([, lease]) => isAbandoned(lease) || isOverdue(lease))
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .slice(0, limit)
        .map(([, lease]) => ({
          ...toLease(lease),
          hasLeft: executors.get(lease.executorId)?.hasLeft ?? false,
          ...(isAbandoned(lease) || lease.limitMs === null ? {} : { limitMs: lease.limitMs }),
        })),
    leasesOf: async (executorId, olderThanMs) =>
      [...leases.values()]
        .filter((lease) => lease.executorId === executorId)
        .filter((lease) => lease.leasedAt <= now() - olderThanMs)
        .map(toLease),
    forgetDead: async (olderThanMs) => {
      const holders = new Set([...leases.values()].map((lease) => lease.executorId));
      for (const row of executors.values()) {
        const isLongDead = row.aliveUntil <= now() - olderThanMs;
        if (isLongDead && !holders.has(row.executorId)) executors.delete(row.executorId);
      }
    },
  };
}
