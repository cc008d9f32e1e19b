// What is held as a whole: workflows and queues. The rows are the truth about both, and every change of them has a number, the epoch.
//
// Whoever starts a run or claims a node decides on the pauses it knows and names their epoch in its transaction
// (`Transaction.assumePauses`), which fails when it is not the current one. `pause` waits for every transaction under way that may
// have started or claimed something, and holds the next ones up until it has committed: what commits after a pause has seen it.

import type { RunId } from "@pawl/core/name/ids";

/** `pausing` and `resuming`: some runs of the workflow have yet to follow. */
export type PauseState = "pausing" | "paused" | "resuming";

export interface PauseKey {
  readonly scope: "workflow" | "queue";
  readonly tenantId: string;
  /** A workflow id or a node type. */
  readonly name: string;
}

export interface PauseRecord extends PauseKey {
  readonly state: PauseState;
  /** From which it stands so. */
  readonly epoch: number;
  readonly by: string;
  readonly reason: string;
  readonly since: number;
  readonly resumedBy: string;
  readonly resumeReason: string;
}

/** All pauses, as of an epoch. */
export interface PauseBook {
  readonly epoch: number;
  readonly pauses: readonly PauseRecord[];
}

/** Who and why. */
export interface PauseWords {
  readonly by: string;
  readonly reason: string;
}

/** Where a walk over the runs of a workflow stands. */
export interface RunsAfter {
  readonly after: RunId | undefined;
  readonly limit: number;
}

export interface Pauses {
  read(): Promise<PauseBook>;
  /** Holds it; what is held already stays as it is. Once this is answered nothing commits that has not seen it. */
  pause(key: PauseKey, words: PauseWords): Promise<PauseRecord>;
  /** Lets it go; undefined when it was not held. A workflow is `resuming` until its runs have followed, a queue is gone at once. */
  resume(key: PauseKey, words: PauseWords): Promise<PauseRecord | undefined>;
  /** Workflows whose runs have yet to follow and that nobody tended for so long; they are the caller's for as long. */
  take(untendedMs: number): Promise<readonly PauseRecord[]>;
  /** Says that the caller is at work on it; false when it has been changed since. */
  tend(pause: PauseRecord): Promise<boolean>;
  /** All runs have followed. Changes nothing when it has been changed since. */
  settle(pause: PauseRecord): Promise<void>;
  /** Runs that have yet to follow, in order of id: live ones to pause, or paused ones to resume. */
  runsOf(pause: PauseRecord, page: RunsAfter): Promise<readonly RunId[]>;
}
