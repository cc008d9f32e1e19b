// Leases, the rows of claims, and the executors that hold them. An executor has one row. One UPDATE renews it for all its leases. Only the
// scheduler writes them.

import type { ExecutorId, NodeId, RunId } from "@pawl/core/name/ids";
import { number, text, uuid } from "../../db/columns.ts";
import type { Typed } from "../../db/query.ts";

/** A node execution. */
export const EXECUTION = { runId: uuid<RunId>(), nodeId: text<NodeId>(), iteration: number() };
/** The columns of a lease. For a claim they are the epoch and the executor that the lease must have. */
export const LEASE = { ...EXECUTION, epoch: number(), executorId: uuid<ExecutorId>() };

export type LeaseKey = Typed<typeof EXECUTION>;
export type Lease = Typed<typeof LEASE>;
export type ClaimKey = Lease;

/** A lease whose epoch is the seq of the `node.started` appended `back` events before the run's new last seq. */
export interface NewLease extends LeaseKey {
  readonly back: number;
  readonly attempt: number;
  readonly executorId: ExecutorId;
  /** How long the claim may last although its executor renews it. Unlimited by default. */
  readonly limitMs?: number;
}

/** An executor's request that one lease lasts for a time, even without renewals. */
export interface Extension extends ClaimKey {
  readonly extendMs: number;
}

export interface ExecutorSession {
  readonly executorId: ExecutorId;
  /** The connection that represents the executor now. */
  readonly sessionId: string;
}

/** A session that keeps its executor alive, and the changes that it reports. */
interface Renewal extends ExecutorSession {
  /** The new number of slots. Unchanged if absent. */
  readonly slots?: number;
  /** How long the user's process behind it has been silent. 0 if it answers. */
  readonly silentMs?: number;
  /** How much longer the executor waits for a silent process. 0 if the process answers, or if the time is not known. */
  readonly giveUpMs?: number;
}

/** The user's process behind an executor. The texts are empty for an executor that runs its handlers itself. */
export interface HandlerProcess {
  readonly processName: string;
  readonly language: string;
  readonly sdk: string;
  readonly build: string;
}

/** A lease whose executor is not alive, or that has lasted too long. */
export interface ExpiredLease extends Lease {
  /** How long the claim may last, if its executor is alive. */
  readonly limitMs?: number;
  /** True if the connection of its executor ended before the lease did. False for an executor that became silent. */
  readonly hasLeft: boolean;
}

export interface Executors {
  /**
   * Makes a session represent its executor. Returns false and changes nothing while another process represents it: a process that is alive,
   * connected, and has another instance id. Processes without an instance id count as the same one.
   */
  register(
    session: ExecutorSession & {
      readonly schedulerId: string | null;
      readonly process?: HandlerProcess;
      readonly instanceId: string | null;
      readonly nodeTypes: readonly string[];
      readonly slots: number;
      readonly description: string;
      readonly leaseMs: number;
      /** How many webhook calls it makes at once. None by default. */
      readonly webhookSlots?: number;
    },
  ): Promise<boolean>;
  /** Keeps many executors alive with one UPDATE. Returns the sessions that represent their executors. The others renew nothing. */
  renew(sessions: readonly Renewal[], leaseMs: number): Promise<ReadonlySet<string>>;
  /** Shortens the life of an executor whose connection broke, unless a newer connection represents it. */
  expireSoon(session: ExecutorSession, graceMs: number): Promise<void>;
  /** The types among these that another executor serves which is alive and connected. */
  servedByOthers(
    executorId: ExecutorId,
    nodeTypes: readonly string[],
  ): Promise<ReadonlySet<string>>;
  /** How many executors are alive, at all schedulers. */
  countAlive(): Promise<number>;
  /** Leases of executors that are no longer alive, and leases that are past their limit. */
  expiredLeases(limit: number): Promise<ExpiredLease[]>;
  /** Leases of an executor that are older than `olderThanMs`. The scheduler compares them with the executor's report. */
  leasesOf(executorId: ExecutorId, olderThanMs: number): Promise<Lease[]>;
  /** Deletes executors that have been dead for long and hold no lease. */
  forgetDead(olderThanMs: number): Promise<void>;
}
