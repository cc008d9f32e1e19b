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

/** A limit of an execution, or with an empty node id of its run, and the name under which it is counted. */
export interface SlotQuestion {
  readonly nodeId: string;
  readonly iteration: number;
  readonly kind: "slot" | "rate";
  readonly key: string;
}

/** Who has a slot, or with an empty node id which run. */
export interface SlotHolderSeen {
  readonly runId: string;
  readonly nodeId: string;
  readonly iteration: number;
}

/** An execution, or its run, in line for a slot. */
export interface SlotWait extends Omit<SlotQuestion, "key"> {
  /** As last said for the key. */
  readonly limit: number;
  /** Slots that are taken, counted up to a bound. */
  readonly takenCount: number;
  /** The first few of those. */
  readonly holders: readonly SlotHolderSeen[];
  /** Who gets one first, counted up to a bound. */
  readonly aheadCount: number;
  /** When the slot frees that it would get in the round in which its turn comes; only of a rate, and where that is known. */
  readonly freeAt?: number;
}

/** A queue of which nothing is claimed. */
export interface QueuePauseSeen {
  readonly nodeType: string;
  readonly by: string;
  readonly reason: string;
  readonly since: number;
}

/** A result that an executor reported and that a scheduler could not store yet. */
export interface UnstoredResult {
  readonly nodeId: string;
  readonly iteration: number;
  readonly epoch: number;
  /** Why not, for people. */
  readonly reason: string;
}

export interface WaitingRoom {
  /** By the clock that wrote every other time here. */
  readonly now: number;
  readonly executors: readonly ExecutorSeen[];
  readonly leases: readonly LeaseSeen[];
  /** Jobs of the node's type that go first, counted up to a bound; undefined when nobody counted. */
  readonly aheadCount?: number;
  /** Of what was asked about, what is in line for a slot. */
  readonly slotWaits?: readonly SlotWait[];
  /** Queues that are paused. */
  readonly queuePauses?: readonly QueuePauseSeen[];
  /** Results of the run that are not stored yet, as far as schedulers were asked. */
  readonly unstored?: readonly UnstoredResult[];
}
