// Pauses of whole workflows and queues. Every change of their rows has a number, the epoch.
//
// A scheduler that starts a run or claims a node decides on the pauses it knows, and names their epoch in its transaction
// (`Transaction.assumePauses`). The transaction fails if another epoch is current. `pause` waits for every open transaction that may have
// started or claimed something. Later ones wait until `pause` has committed, so every transaction that commits after it has seen it.

import type { RunId } from "@pawl/core/name/ids";
import { number, text, time } from "../../db/columns.ts";
import type { Typed } from "../../db/query.ts";

/** `pausing` and `resuming` mean that some runs of the workflow have not followed yet. */
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

/** All pauses of an epoch. */
export interface PauseBook {
  readonly epoch: number;
  readonly pauses: readonly PauseRecord[];
  /** The events that receivers of webhooks get of runs that do not name them. A change of the receivers raises the epoch too. */
  readonly webhookEvents: readonly string[];
}

/** The user who paused, and the reason. */
export interface PauseWords {
  readonly by: string;
  readonly reason: string;
}

/** A page of a walk over the runs of a workflow. */
interface RunsAfter {
  readonly after: RunId | undefined;
  readonly limit: number;
}

export interface Pauses {
  read(): Promise<PauseBook>;
  /** Inserts a pause. A pause that exists stays unchanged. Every transaction that commits after the answer has seen the pause. */
  pause(key: PauseKey, words: PauseWords): Promise<PauseRecord>;
  /**
   * Ends a pause. Undefined if there was none. A workflow is `resuming` until its runs have followed. The pause of a queue is deleted at
   * once.
   */
  resume(key: PauseKey, words: PauseWords): Promise<PauseRecord | undefined>;
  /**
   * Takes workflows whose runs have not all followed, and that no scheduler has worked on for this long. The caller has them for the same
   * time.
   */
  take(untendedMs: number): Promise<readonly PauseRecord[]>;
  /** Records that the caller works on the pause. False if the pause has changed since. */
  tend(pause: PauseRecord): Promise<boolean>;
  /** Records that all runs have followed. Changes nothing if the pause has changed since. */
  settle(pause: PauseRecord): Promise<void>;
  /** Runs that have not followed yet, in order of id: live ones to pause, or paused ones to resume. */
  runsOf(pause: PauseRecord, page: RunsAfter): Promise<readonly RunId[]>;
}
