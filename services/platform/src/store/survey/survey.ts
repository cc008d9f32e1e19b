// Counts across the whole store, for schedulers and for people.

import type { SlotQuestion } from "@pawl/core/explain/room";
import type { DefinitionId, NodeId } from "@pawl/core/name/ids";
import type { QueueDepth } from "../../queue/queue.ts";
import type { PlaceInQueue } from "../../queue/reads.ts";

/** The counts that a scheduler reads now and then, to learn of the work of other schedulers. */
export interface Survey {
  readonly queues: readonly QueueDepth[];
  /** When the next slot of a rate becomes free that an execution waits for. Undefined if none is known. */
  readonly nextRateSlotMs: number | undefined;
  /** Counted up to a bound. */
  readonly openDeadLetters: number;
  readonly pauseEpoch: number;
}

export interface TypeDepth {
  readonly nodeType: string;
  readonly waiting: number;
  readonly active: number;
  readonly deadLetter: number;
}

export interface Depths {
  /** Types with something to count, by name. */
  readonly types: readonly TypeDepth[];
  /** Executions that wait for a person. */
  readonly paused: number;
}

/** The type of a node's execution. Iteration 1 is that of every item of a map or loop. */
export type TypeOf = (
  definitionId: DefinitionId,
  nodeId: NodeId,
  iteration: number,
) => Promise<string | undefined>;

/** The questions of an explanation besides those about executors and leases. */
export interface RoomQuestion {
  readonly place?: PlaceInQueue | undefined;
  readonly slots: readonly SlotQuestion[];
}
