// The waiting room: a node that cannot start now waits in the queue of its type, with priority and delay. Jobs hold ids
// only; the log knows the rest. Lower priority numbers are sooner here, as everywhere in our API.

import type { NodeId, RunId } from "@pawl/core/name/ids";

/** Queue of runs that may begin: their workflow limits how many are live, and they have a slot now. */
export const PENDING_RUNS = "_pending_run";

/** Queue of glue nodes that the scheduler completes itself, once their time has come or a tick has room for them. */
export const GLUE = "_glue";

/** Names one delivery of a node execution. */
export interface JobKey {
  readonly runId: RunId;
  readonly nodeId: NodeId;
  readonly iteration: number;
  readonly attempt: number;
}

/** A waiting job to remove. */
export interface DroppedJob extends JobKey {
  readonly nodeType: string;
}

export interface NewJob extends JobKey {
  readonly nodeType: string;
  readonly priority: number;
  /** Wait this long first; absent means ready now. Measured by the database's clock. */
  readonly delayMs?: number;
  /** Who waits: jobs of one priority are taken in turns, one of each share. */
  readonly share?: string;
  /** It has the slots it needs. */
  readonly isGranted?: boolean;
}

export interface Job extends JobKey {
  readonly nodeType: string;
  /** The queue's own handle, needed to drop the job. */
  readonly jobId: string;
  /** It has the slots it needs. */
  readonly isGranted?: boolean;
}

export interface QueueDepth {
  readonly nodeType: string;
  /** Jobs waiting, ready or not; counted up to a bound. */
  readonly waitingCount: number;
  /** When the next job is due, zero when it is. Absent when none waits. */
  readonly dueInMs?: number;
  /** For how long the oldest job that is due has waited. Absent when none waits. */
  readonly ageMs?: number;
}
