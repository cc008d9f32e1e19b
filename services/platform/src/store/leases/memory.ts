// Leases and executors in memory, by the store's clock.

import { StagedMap, UniqueViolation } from "../memory/staging.ts";
import type { Tables } from "../memory/tables.ts";
import type {
  ClaimKey,
  Executors,
  ExecutorSession,
  Extension,
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
  readonly aliveUntil: number;
  /** Its connection is gone. */
  readonly hasLeft: boolean;
}

/** The primary key of a lease. */
export const leaseKey = (key: LeaseKey): string => `${key.runId}/${key.nodeId}/${key.iteration}`;

/** Leases as one transaction sees them. */
export class StagedLeases {
  readonly #now: number;
  readonly #rows: StagedMap<string, LeaseRow>;

  constructor({ leases }: Tables, now: number) {
    this.#now = now;
    this.#rows = new StagedMap(leases);
  }

  /** The lease, if this is its claim. */
  held(claim: ClaimKey): LeaseRow | undefined {
    const lease = this.#rows.get(leaseKey(claim));
    return lease?.epoch === claim.epoch && lease.executorId === claim.executorId
      ? lease
      : undefined;
  }

  open({ back: _back, ...lease }: NewLease, epoch: number): void {
    const key = leaseKey(lease);
    if (this.#rows.has(key)) throw new UniqueViolation("leases_pkey", key);
    const times = { leasedAt: this.#now, extendedUntil: null, limitMs: lease.limitMs ?? null };
    this.#rows.set(key, { ...lease, epoch, ...times });
  }

  close(key: LeaseKey): void {
    this.#rows.delete(leaseKey(key));
  }

  extend(extension: Extension): boolean {
    const lease = this.held(extension);
    if (lease === undefined) return false;
    const extendedUntil = this.#now + extension.extendMs;
    this.#rows.set(leaseKey(extension), { ...lease, extendedUntil });
    return true;
  }

  /** Commits. */
  apply(): void {
    this.#rows.apply();
  }
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
  /** The executor's row, if this session still speaks for it. */
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
      executors.set(columns.executorId, {
        ...columns,
        aliveUntil: now() + leaseMs,
        hasLeft: false,
      });
      return true;
    },
    renew: async (sessions, leaseMs) => {
      const current = sessions.flatMap((session) => spokenFor(session) ?? []);
      for (const row of current)
        executors.set(row.executorId, { ...row, aliveUntil: now() + leaseMs });
      return new Set(current.map((row) => row.sessionId));
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
