// The queue of nodes that wait, as the store knows it. pg-boss is behind this interface in every scheduler (boss.ts); the memory store has a
// twin (memory-jobs.ts). A queue that implements it takes the place of pg-boss without a change in the store or in the tick.
//
// A claim takes its job out of the queue, and the same transaction writes the claim. So a queue sends its statements on the connection of
// the tick, and its tables are in the database of the log: decisions/0057.

import type { Queryable } from "../db/query.ts";
import type { DroppedJob, Job, NewJob, QueueDepth } from "./queue.ts";

/** A statement for the connection of the tick. It stays prepared if it has a name. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
  readonly values?: unknown[];
}

/** Sends one statement of the tick's transaction; its rows come later. */
export type SendStatement = (statement: Statement) => Promise<{ readonly rows: unknown[] }>;

/** A call under way: `issued` once its statement is sent, `done` once it is answered. */
export interface QueueCall<T> {
  readonly issued: Promise<void>;
  readonly done: Promise<T>;
}

export interface NodeQueue {
  /** Adds jobs of one node type. A delivery that waits already stays as it is. */
  insert(send: SendStatement, nodeType: string, jobs: readonly NewJob[]): QueueCall<void>;
  /** Takes out up to `count` jobs that are due, the first in order of priority and turn. A rollback puts them back. */
  fetch(send: SendStatement, nodeType: string, count: number): QueueCall<readonly Job[]>;
  /** Removes waiting jobs, except those that another transaction takes at this moment. Sends its statement at once. */
  drop(send: SendStatement, jobs: readonly DroppedJob[]): Promise<void>;
  /** The jobs among these that are in no queue. */
  missing(db: Queryable, jobs: readonly DroppedJob[]): Promise<DroppedJob[]>;
  /** The length of every queue that this process knows. */
  depths(db: Queryable): Promise<readonly QueueDepth[]>;
}
