// Parts of the view of a node execution.

export interface LogLine {
  readonly seq: number;
  readonly at: number;
  readonly level: string;
  readonly message: string;
}

/** The answer of a person, or of the clock, to a node that was held. */
export interface DecisionView {
  readonly decision: string;
  /** The name that the person gave. It may be empty. */
  readonly by: string;
  readonly comment: string;
  readonly response: string;
  readonly at: number;
}
/** How a delivery ended. `lost`: its executor vanished, and another delivery follows. `held`: a person approved its input, and another follows. */
export type DeliveryEnd =
  | "completed"
  | "failed"
  | "retried"
  | "lost"
  | "timed_out"
  | "cancelled"
  | "skipped"
  | "held";

/** One delivery of a node execution to an executor: queued, started, ended. */
export interface Delivery {
  readonly attempt: number;
  /** The epoch of the claim. 0 before the start, and for a node that the scheduler completed itself. */
  readonly epoch: number;
  /** Empty if no executor was involved. */
  readonly executorId: string;
  readonly queuedAt: number;
  readonly notBeforeAt: number | undefined;
  readonly startedAt: number | undefined;
  readonly endedAt: number | undefined;
  readonly end: DeliveryEnd | undefined;
}
