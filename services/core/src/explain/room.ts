// What surrounds a run at one moment, as data: who is alive, who holds what, and how long the queue is. Whoever asks for an
// explanation reads it; nothing here is in the log.

/** An executor that is alive. */
export interface ExecutorSeen {
  readonly executorId: string;
  readonly nodeTypes: readonly string[];
  readonly slots: number;
  /** Leases it holds, of any run. */
  readonly heldCount: number;
}

/** A lease of the run in question. */
export interface LeaseSeen {
  readonly nodeId: string;
  readonly iteration: number;
  readonly epoch: number;
  readonly executorId: string;
  /** When it is lost unless it is renewed; in the past when its executor is silent or unknown. */
  readonly untilAt: number;
}

export interface WaitingRoom {
  /** By the clock that wrote every other time here. */
  readonly now: number;
  readonly executors: readonly ExecutorSeen[];
  readonly leases: readonly LeaseSeen[];
  /** Jobs of the node's type that go first, counted up to a bound; undefined when nobody counted. */
  readonly aheadCount?: number;
}
