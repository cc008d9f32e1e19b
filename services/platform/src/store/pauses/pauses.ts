// Pauses of whole workflows and queues. The rows are the truth about both, and every change of them has a number, the epoch.
//
// A scheduler that starts a run or claims a node decides on the pauses it knows and names their epoch in its transaction
// (`Transaction.assumePauses`), which fails when another epoch is current. `pause` waits for every transaction under way that may
// have started or claimed something, and holds up the next ones until it has committed: what commits after a pause has seen it.

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
  /** The epoch of its last change. */
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

/** Who asked for it, and why. */
export interface PauseWords {
  readonly by: string;
  readonly reason: string;
}

/** A page of a walk over the runs of a workflow. */
export interface RunsAfter {
  readonly after: RunId | undefined;
  readonly limit: number;
}

export interface Pauses {
  read(): Promise<PauseBook>;
  /** Pauses; a pause that exists stays as it is. After the answer nothing commits that has not seen the pause. */
  pause(key: PauseKey, words: PauseWords): Promise<PauseRecord>;
  /** Undefined when it was not paused. A workflow is `resuming` until its runs have followed, the pause of a queue is gone at once. */
  resume(key: PauseKey, words: PauseWords): Promise<PauseRecord | undefined>;
  /** Workflows whose runs have yet to follow and that no scheduler tended for so long; the caller has them for as long. */
  take(untendedMs: number): Promise<readonly PauseRecord[]>;
  /** Records that the caller works on it; false when the pause has changed since. */
  tend(pause: PauseRecord): Promise<boolean>;
  /** All runs have followed. Changes nothing when the pause has changed since. */
  settle(pause: PauseRecord): Promise<void>;
  /** Runs that have yet to follow, in order of id: live ones to pause, or paused ones to resume. */
  runsOf(pause: PauseRecord, page: RunsAfter): Promise<readonly RunId[]>;
}
