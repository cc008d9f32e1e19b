// Pauses of whole workflows and queues. Every change of their rows has a number, the epoch.
//
// A scheduler that starts a run or claims a node decides on the pauses it knows, and names their epoch in its transaction
// (`Transaction.assumePauses`). The transaction fails if another epoch is current. `pause` waits for every open transaction that may have
// started or claimed something. Later ones wait until `pause` has committed, so every transaction that commits after it has seen it.

import type { RunId } from "@pawl/core/name/ids";
import { number, text, time } from "../../db/columns.ts";
import type { Typed } from "../../db/query.ts";

/** `pausing` and `resuming`: some runs of the workflow have yet to follow. */
export type PauseState = "pausing" | "paused" | "resuming";

/** The key of a pause. The name is a workflow id or a node type. */
export const PAUSE_KEY = { scope: text<"workflow" | "queue">(), tenantId: text(), name: text() };
/** The columns of a pause. */
export const PAUSE = {
  ...PAUSE_KEY,
  state: text<PauseState>(),
  /** The epoch of its last change. */
  epoch: number(),
  by: text(),
  reason: text(),
  since: time(),
  resumedBy: text(),
  resumeReason: text(),
};

export type PauseKey = Typed<typeof PAUSE_KEY>;
export type PauseRecord = Typed<typeof PAUSE>;

/** All pauses, as of an epoch. */
export interface PauseBook {
  readonly epoch: number;
  readonly pauses: readonly PauseRecord[];
}

/** The user who asked for it, and the reason. */
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
  /** Pauses; a pause that exists stays as it is. Every transaction that commits after the answer has seen the pause. */
  pause(key: PauseKey, words: PauseWords): Promise<PauseRecord>;
  /** Undefined if it was not paused. A workflow is `resuming` until its runs have followed; the pause of a queue is deleted at once. */
  resume(key: PauseKey, words: PauseWords): Promise<PauseRecord | undefined>;
  /** Workflows whose runs have yet to follow and that no scheduler tended for so long; the caller has them for as long. */
  take(untendedMs: number): Promise<readonly PauseRecord[]>;
  /** Records that the caller works on it; false if the pause has changed since. */
  tend(pause: PauseRecord): Promise<boolean>;
  /** All runs have followed. Changes nothing if the pause has changed since. */
  settle(pause: PauseRecord): Promise<void>;
  /** Runs that have yet to follow, in order of id: live ones to pause, or paused ones to resume. */
  runsOf(pause: PauseRecord, page: RunsAfter): Promise<readonly RunId[]>;
}
