// The queue of waiting nodes, as an interface for the store. In every scheduler pg-boss implements it (boss.ts). The memory store has a
// twin (memory-jobs.ts). Another implementation could replace pg-boss without a change in the store or in the tick.
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

/** Sends one statement of the tick's transaction. Its rows arrive later. */
export type SendStatement = (statement: Statement) => Promise<{ readonly rows: unknown[] }>;

/** A call under way. `issued` settles once its statement is sent, `done` once it is answered. */
export interface QueueCall<T> {
  readonly issued: Promise<void>;
  readonly done: Promise<T>;
}

export interface NodeQueue {
  /** Adds jobs of one node type. A delivery that already waits stays unchanged. */
  insert(send: SendStatement, nodeType: string, jobs: readonly NewJob[]): QueueCall<void>;
  /** Takes out up to `count` due jobs, in order of priority and turn. A rollback puts them back. */
  fetch(send: SendStatement, nodeType: string, count: number): QueueCall<readonly Job[]>;
  /** Removes waiting jobs, except those that another transaction takes at this moment. Sends its statement at once. */
  drop(send: SendStatement, jobs: readonly DroppedJob[]): Promise<void>;
  /** The jobs among these that are in no queue. */
  missing(db: Queryable, jobs: readonly DroppedJob[]): Promise<DroppedJob[]>;
  /** The length of every queue that this process knows. */
  depths(db: Queryable): Promise<readonly QueueDepth[]>;
}
