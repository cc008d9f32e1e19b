// Leases, the rows of claims, and the executors that hold them. An executor has one row, and one UPDATE renews it whatever the number
// of its leases. Only the scheduler writes them.

import type { ExecutorId, NodeId, RunId } from "@pawl/core/name/ids";

/** A node execution. */
export interface LeaseKey {
  readonly runId: RunId;
  readonly nodeId: NodeId;
  readonly iteration: number;
}

/** A lease whose epoch is the seq of the `node.started` appended `back` events before the run's new last seq. */
export interface NewLease extends LeaseKey {
  readonly back: number;
  readonly attempt: number;
  readonly executorId: ExecutorId;
  /** How long the claim may last although its executor renews it; without a limit unless given. */
  readonly limitMs?: number;
}

export interface Lease extends LeaseKey {
  readonly epoch: number;
  readonly executorId: ExecutorId;
}

/** A lease with the epoch and the executor that it must have. */
export type ClaimKey = Lease;

/** The fields of a claim. */
export const CLAIM_FIELDS = ["runId", "nodeId", "iteration", "epoch", "executorId"] as const;

/** An executor's request that one lease lasts for a time, whatever becomes of the renewals. */
export interface Extension extends ClaimKey {
  readonly extendMs: number;
}

export interface ExecutorSession {
  readonly executorId: ExecutorId;
  /** The connection that speaks for the executor now. */
  readonly sessionId: string;
}

/** A lease whose executor is not alive, or that has lasted too long. */
export interface ExpiredLease extends Lease {
  /** How long it was allowed to last, where its executor is alive and it is past that. */
  readonly limitMs?: number;
  /** The connection of its executor ended before the lease did, as opposed to an executor that fell silent. */
  readonly hasLeft: boolean;
}

export interface Executors {
  /**
   * Lets a session speak for its executor from now on. False, and nothing changes, while another process speaks for it: a process that
   * is alive, connected, and has another instance id. Processes without an instance id count as the same one.
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
  /** Leases an executor has, older than `olderThanMs`: for comparison with what the executor reports. */
  leasesOf(executorId: ExecutorId, olderThanMs: number): Promise<Lease[]>;
  /** Forgets executors that are long gone and hold nothing. */
  forgetDead(olderThanMs: number): Promise<void>;
}
