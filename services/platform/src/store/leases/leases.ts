// Leases, the rows of claims, and the executors that hold them. An executor has one row, and one UPDATE renews it, however
// many leases it has. Only the scheduler writes them.

import type { ExecutorId, NodeId, RunId } from "@pawl/core/name/ids";
import { number, text, uuid } from "../../db/columns.ts";
import type { Typed } from "../../db/query.ts";

/** A node execution. */
export const EXECUTION = { runId: uuid<RunId>(), nodeId: text<NodeId>(), iteration: number() };
/** The columns of a lease. As a claim: the epoch and the executor that the lease must have. */
export const LEASE = { ...EXECUTION, epoch: number(), executorId: uuid<ExecutorId>() };

export type LeaseKey = Typed<typeof EXECUTION>;
export type Lease = Typed<typeof LEASE>;
export type ClaimKey = Lease;

/** A lease whose epoch is the seq of the `node.started` appended `back` events before the run's new last seq. */
export interface NewLease extends LeaseKey {
  readonly back: number;
  readonly attempt: number;
  readonly executorId: ExecutorId;
  /** How long the claim may last although its executor renews it; without a limit unless given. */
  readonly limitMs?: number;
}

/** An executor's request that one lease lasts for a time, even without renewals. */
export interface Extension extends ClaimKey {
  readonly extendMs: number;
}

export interface ExecutorSession {
  readonly executorId: ExecutorId;
  /** The connection that speaks for the executor now. */
  readonly sessionId: string;
}

/** A session that keeps its executor alive, and what has changed about it. */
export interface Renewal extends ExecutorSession {
  /** Its slots from now on; unchanged unless given. */
  readonly slots?: number;
  /** How long the process of a user behind it has been silent; 0 if it answers. */
  readonly silentMs?: number;
}

/** The process of a user behind an executor; empty texts for an executor that runs its handlers itself. */
export interface HandlerProcess {
  readonly processName: string;
  readonly language: string;
  readonly sdk: string;
  readonly build: string;
}

/** A lease whose executor is not alive, or that has lasted too long. */
export interface ExpiredLease extends Lease {
  /** How long it was allowed to last, if its executor is alive. */
  readonly limitMs?: number;
  /** The connection of its executor ended before the lease did. False for an executor that fell silent. */
  readonly hasLeft: boolean;
}

export interface Executors {
  /**
   * Lets a session speak for its executor from now on. False, and nothing changes, while another process speaks for it: a process that
   * is alive, connected, and has another instance id. Processes without an instance id count as the same one.
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
    },
  ): Promise<boolean>;
  /** Keeps many executors alive with one UPDATE. Gives the ids of the sessions that speak for their executors; the others renew nothing. */
  renew(sessions: readonly Renewal[], leaseMs: number): Promise<ReadonlySet<string>>;
  /** Shortens the life of an executor whose connection broke, unless a newer connection speaks for it. */
  expireSoon(session: ExecutorSession, graceMs: number): Promise<void>;
  /** Which of these types another executor serves that is alive and connected. */
  servedByOthers(
    executorId: ExecutorId,
    nodeTypes: readonly string[],
  ): Promise<ReadonlySet<string>>;
  /** How many executors are alive, whichever scheduler they are connected to. */
  countAlive(): Promise<number>;
  /** Leases of executors that are no longer alive, and leases that are past their limit. */
  expiredLeases(limit: number): Promise<ExpiredLease[]>;
  /** Leases of an executor that are older than `olderThanMs`: the scheduler compares them with the executor's report. */
  leasesOf(executorId: ExecutorId, olderThanMs: number): Promise<Lease[]>;
  /** Forgets executors that are long gone and hold nothing. */
  forgetDead(olderThanMs: number): Promise<void>;
}
