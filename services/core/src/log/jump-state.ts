// The parts of a run's state that rounds need: outputs that outlive their round, and jumps that the planner has not followed yet.

import type { Taint } from "../policy/taint.ts";

/** An output that outlives its round: JSON text, its size in UTF-8, and its labels. */
export interface KeptOutput {
  readonly output: string;
  readonly outputBytes: number;
  readonly taint?: Taint | undefined;
}

/** The completion through which a jump reached a node. The outputs of the round that it ended are gone by then. */
export interface EntryState extends KeptOutput {
  /** The index of the node that jumped. */
  readonly source: number;
  readonly handle: string | undefined;
  readonly releaseAt: number | undefined;
}

/** A completed node that leads to another one by a loop edge, a goto or a handoff, and that the planner has not followed yet. */
export interface JumpState {
  readonly entry: EntryState;
  readonly target: number;
  /** The place of the loop edge among the target's `reentries`; undefined for a goto and a handoff. */
  readonly loop: number | undefined;
  readonly reason: string;
}
