// The stable names of the reasons why a node is in its state, and the rest of an explanation. The names equal pawl.v1.ExplainReason without
// its prefix. A test compares the two.

import type { Failure } from "../fault/cause.ts";
import type { EventType, NodeStatus } from "../log/event.ts";
import type { SlotWait } from "./room.ts";

export const EXPLAIN_REASONS = [
  "WAITING_PARENTS",
  "DECIDING",
  "BACKOFF",
  "DELAYED",
  "QUEUED",
  "NO_EXECUTOR",
  "EXECUTORS_FULL",
  "RUNNING",
  "LEASE_LOST",
  "WAITING_PERSON",
  "WAITING_CHILD_RUN",
  "BLOCKED",
  "RUN_PAUSED",
  "RUN_ENDED",
  "COMPLETED",
  "FAILED",
  "UPSTREAM_FAILED",
  "DELIVERY_EXHAUSTED",
  "TIMED_OUT",
  "CANCELLED",
  "UNTAKEN_BRANCH",
  "PARENT_NOT_COMPLETED",
  "INVALIDATED",
  "WAITING_ITERATIONS",
  "WAITING_SLOT",
  "WAITING_RATE",
  "QUEUE_PAUSED",
  "RESULT_UNSTORED",
  "WAITING_SIGNAL",
  "WAITING_BUDGET",
  "WAITING_THREAD",
] as const;
/** The cause of a node's state. */
export type ExplainReason = (typeof EXPLAIN_REASONS)[number];

/** An event that proves a part of the explanation. */
export interface Evidence {
  readonly seq: number;
  readonly type: EventType;
  readonly nodeId: string;
}

/** The place of an execution among those that wait for a slot, with the filled key. */
export interface SlotStanding extends Pick<
  SlotWait,
  "kind" | "limit" | "takenCount" | "holders" | "aheadCount"
> {
  readonly key: string;
}

export interface Explanation {
  readonly reason: ExplainReason;
  readonly status: NodeStatus;
  /** One sentence for people. */
  readonly summary: string;
  /** In order of seq. */
  readonly evidence: readonly Evidence[];
  /** The next step, for people. */
  readonly next: string;
  /** The time since which the node is in this state. */
  readonly sinceAt?: number;
  /** The latest time at which this state ends, if it is known. */
  readonly untilAt?: number;
  /** Why it failed, and the class of that failure. */
  readonly failure?: Failure;
  /** The slot it waits for, while it waits for a slot of a concurrency key or of a rate. */
  readonly slot?: SlotStanding;
}
