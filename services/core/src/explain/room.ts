// The surroundings of a run at one moment, as data: the executors that are alive, the holders of slots, and the length of the queue. The
// caller that wants an explanation reads them. None of this is in the log.

/** An executor that is alive. */
export interface ExecutorSeen {
  readonly executorId: string;
  readonly nodeTypes: readonly string[];
  readonly slots: number;
  /** Leases that it holds, of any run. */
  readonly heldCount: number;
  /** The user's process behind it. Absent or empty for an executor that runs its handlers itself. */
  readonly processName?: string;
  readonly language?: string;
  readonly build?: string;
  /** How long that process has been silent. 0 if it answers. */
  readonly silentMs?: number;
  /** How much longer its executor waits for a silent process. 0 or absent if that is not known. */
  readonly giveUpMs?: number;
}

/** A lease of the run in question. */
interface LeaseSeen {
  readonly nodeId: string;
  readonly iteration: number;
  readonly epoch: number;
  readonly executorId: string;
  /** When it expires unless the executor renews it. In the past if its executor is silent or unknown. */
  readonly untilAt: number;
}

/** A limit of an execution, or of its run if the node id is empty, and the name under which it is counted. */
export interface SlotQuestion {
  readonly nodeId: string;
  readonly iteration: number;
  readonly kind: "slot" | "rate";
  readonly key: string;
}

/** The holder of a slot: an execution, or a run if the node id is empty. */
export interface SlotHolderSeen {
  readonly runId: string;
  readonly nodeId: string;
  readonly iteration: number;
}

/** An execution, or its run, that waits for a slot. */
export interface SlotWait extends Omit<SlotQuestion, "key"> {
  /** The newest limit stored for the key. */
  readonly limit: number;
  /** How many slots are taken, counted up to a bound. */
  readonly takenCount: number;
  /** The first few holders. */
  readonly holders: readonly SlotHolderSeen[];
  /** How many executions get a slot before it, counted up to a bound. */
  readonly aheadCount: number;
  /** The time when its slot becomes free. Set only for a rate, and only if it is known. */
  readonly freeAt?: number;
}

/** A paused queue. */
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
  /** The reason, for people. */
  readonly reason: string;
}

/** The thread that a run waits for. */
export interface ThreadWait {
  readonly threadId: string;
  /** The run that holds it. Null if none does. */
  readonly holderRunId: string | null;
  /** How many runs get it before this one. */
  readonly aheadCount: number;
}

export interface WaitingRoom {
  /** The current time, by the clock that wrote all other times here. */
  readonly now: number;
  readonly executors: readonly ExecutorSeen[];
  readonly leases: readonly LeaseSeen[];
  /** Jobs of the node's type that go first, counted up to a bound. Undefined if they were not counted. */
  readonly aheadCount?: number;
  /** The executions and runs in question that wait for a slot. */
  readonly slotWaits?: readonly SlotWait[];
  /** Set if the run in question waits for its thread. */
  readonly threadWait?: ThreadWait;
  /** Queues that are paused. */
  readonly queuePauses?: readonly QueuePauseSeen[];
  /** Results of the run that are not stored yet, from the schedulers that answered. */
  readonly unstored?: readonly UnstoredResult[];
}
