// The calls of recovery: snapshots, quarantine, and checks of runs that may be stuck. Every call is its own transaction. Recovery and ticks
// wait for each other only at single row locks.

import { crc32 } from "node:zlib";
import type { Reason } from "@pawl/core/fault/reason";
import type { RunId } from "@pawl/core/name/ids";
import type { DroppedJob } from "../../queue/queue.ts";
import type { Lease } from "../leases/leases.ts";

/** Why a run is in quarantine. */
export interface QuarantineCause {
  /** EVENT_LOG_CORRUPTION, or INTERNAL for an input on which the engine failed. */
  readonly reason: Extract<Reason, "EVENT_LOG_CORRUPTION" | "INTERNAL">;
  /** For people. */
  readonly detail: string;
}

export interface Quarantine extends QuarantineCause {
  readonly at: number;
}

/** A cache of the fold of a run's log up to `seq`. */
export interface Snapshot {
  readonly seq: number;
  readonly format: number;
  readonly body: string;
}

/** A place in a walk over the live runs. */
export type WalkCursor = readonly [deadlineAt: string, runId: RunId];

/** One page of a walk: runs that got no event for a while, and the place of the next page. Undefined at the end. */
interface QuietPage {
  readonly runIds: readonly RunId[];
  readonly next: WalkCursor | undefined;
}

/** A run with an event behind its last seq. */
export interface TornRun {
  readonly runId: RunId;
  readonly straySeq: number;
}

/** A checksum that shows a reader whether a body is whole. */
export const snapshotDigest = (body: string): number => crc32(body);

export interface Recovery {
  /**
   * Puts a live run into quarantine. A new version fences schedulers that plan on the old one, and its claims end. False if the run has
   * ended or is in quarantine.
   */
  quarantine(runId: RunId, cause: QuarantineCause): Promise<boolean>;
  /** Takes a run out of quarantine and deletes its snapshot. False if it was not in quarantine. */
  release(runId: RunId): Promise<boolean>;
  /** Stores the newest snapshot of a live run. The store ignores one that is ahead of the log, or behind the stored snapshot. */
  saveSnapshot(runId: RunId, snapshot: Snapshot): Promise<void>;
  dropSnapshot(runId: RunId): Promise<void>;
  /** Reads `limit` live runs that neither wait nor are paused. Returns those without an event for `quietMs`. */
  quietRuns(options: {
    readonly quietMs: number;
    readonly after: WalkCursor | undefined;
    readonly limit: number;
  }): Promise<QuietPage>;
  /** The jobs among these that are in no queue, and whose executions do not wait for a slot. */
  missingJobs(jobs: readonly DroppedJob[]): Promise<DroppedJob[]>;
  leasesOfRuns(runIds: readonly RunId[]): Promise<Lease[]>;
  /** The runs among these whose row another session has locked. It waits for no lock. */
  lockedRuns(runIds: readonly RunId[]): Promise<readonly RunId[]>;
  /** The runs among these with an event behind their last seq, and the first such seq. */
  tornRuns(runIds: readonly RunId[]): Promise<readonly TornRun[]>;
  /** Writes an event and deletes it, to test whether the store accepts writes. @throws STORE_UNAVAILABLE */
  probe(): Promise<void>;
}
