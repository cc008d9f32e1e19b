// The waiting room: a node that cannot start now waits in the queue of its type, with priority and delay. Jobs hold ids
// only; the log knows the rest. Lower priority numbers are sooner here, as everywhere in our API.

import type { NodeId, RunId } from "@pawl/core/name/ids";

/** Stands for open dead letters among the queues, which hold none of them; a node type never begins with an underscore. */
export const DEAD_LETTERS = "_dead_letters";

/** Stands for the pauses among the queues, with their epoch: who missed the news of one learns of it by looking. */
export const PAUSES = "_pauses";

/** Queue of runs that may begin: their workflow limits how many are live, and they have a slot now. */
export const PENDING_RUNS = "_pending_run";

/** Queue of glue nodes that the scheduler completes itself, once their time has come or a tick has room for them. */
export const GLUE = "_glue";

/** Stands for the slots of rates among the queues: due when one frees that somebody waits for. */
export const RATE_SLOTS = "_rate_slots";

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
  /** Of the pauses, where it stands for them. */
  readonly epoch?: number;
}
