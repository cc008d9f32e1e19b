// Liveness of executors: one row each, renewed with one UPDATE whatever the number of leases. Used by the scheduler only.

import type { ExecutorId } from "@pawl/core/name/ids";
import type { Lease } from "./journal.ts";

export interface ExecutorSession {
  readonly executorId: ExecutorId;
  /** The connection that speaks for the executor now. */
  readonly sessionId: string;
}

/** A lease whose executor is not alive. */
export interface ExpiredLease extends Lease {
  /** Its connection ended before the lease did, as opposed to one that fell silent. */
  readonly hasLeft: boolean;
}

export interface Executors {
  register(
    session: ExecutorSession & {
      readonly nodeTypes: readonly string[];
      readonly slots: number;
      readonly description: string;
      readonly leaseMs: number;
    },
  ): Promise<void>;
  /** Keeps many executors alive with one UPDATE. */
  renew(sessions: readonly ExecutorSession[], leaseMs: number): Promise<void>;
  /** Shortens the life of an executor whose connection broke, unless a newer connection speaks for it. */
  expireSoon(session: ExecutorSession, graceMs: number): Promise<void>;
  /** Leases of executors that are no longer alive. */
  expiredLeases(limit: number): Promise<ExpiredLease[]>;
  /** Leases an executor has, older than `olderThanMs`: for comparison with what it says it holds. */
  leasesOf(executorId: ExecutorId, olderThanMs: number): Promise<Lease[]>;
  /** Forgets executors that are long gone and hold nothing. */
  forgetDead(olderThanMs: number): Promise<void>;
}
