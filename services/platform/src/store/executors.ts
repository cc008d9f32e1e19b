// Liveness of executors: one row each, renewed with one UPDATE whatever the number of leases. Used by the scheduler only.

import type { ExecutorId } from "@pawl/core/name/ids";
import type { Lease } from "./journal.ts";

export interface ExecutorSession {
  readonly executorId: ExecutorId;
  /** The connection that speaks for the executor now. */
  readonly sessionId: string;
}

/** A lease whose executor is not alive, or that has lasted too long. */
export interface ExpiredLease extends Lease {
  /** How long it was allowed to last, where its executor lives and it is past that. */
  readonly limitMs?: number;
  /** Its connection ended before the lease did, as opposed to one that fell silent. */
  readonly hasLeft: boolean;
}

export interface Executors {
  /**
   * Lets a session speak for its executor from now on. False, and nothing changes, when another process speaks for it: one that lives,
   * whose connection stands, and that names itself otherwise. Processes without an instance id count as the same one.
   */
  register(
    session: ExecutorSession & {
      readonly instanceId: string | null;
      readonly nodeTypes: readonly string[];
      readonly slots: number;
      readonly description: string;
      readonly leaseMs: number;
    },
  ): Promise<boolean>;
  /** Keeps many executors alive with one UPDATE. Gives the ids of the sessions that speak for their executors; the others renew nothing. */
  renew(sessions: readonly ExecutorSession[], leaseMs: number): Promise<ReadonlySet<string>>;
  /** Shortens the life of an executor whose connection broke, unless a newer connection speaks for it. */
  expireSoon(session: ExecutorSession, graceMs: number): Promise<void>;
  /** How many executors are alive, whichever scheduler they are connected to. */
  countAlive(): Promise<number>;
  /** Leases of executors that are no longer alive, and leases that are past their limit. */
  expiredLeases(limit: number): Promise<ExpiredLease[]>;
  /** Leases an executor has, older than `olderThanMs`: for comparison with what it says it holds. */
  leasesOf(executorId: ExecutorId, olderThanMs: number): Promise<Lease[]>;
  /** Forgets executors that are long gone and hold nothing. */
  forgetDead(olderThanMs: number): Promise<void>;
}
