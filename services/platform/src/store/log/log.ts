// The log: the facts that ticks append, and the pages of events and tags that readers see.

import type { Fact, FactOf, RunEvent } from "@pawl/core/log/event";
import type { RunId } from "@pawl/core/name/ids";
import type { ClaimKey } from "../leases/leases.ts";

/** Events that one statement deletes or empties: about a tenth of a second. */
export const EVENTS_PAGE = 5_000;

/** A fact to append. Its seq is the run's new last seq minus `back`. The last fact of the transaction has 0. */
export interface Append {
  readonly runId: RunId;
  readonly back: number;
  readonly fact: Fact;
}

/** A delta or log line. The store skips it if the log already has it. */
export interface StreamedFact extends ClaimKey {
  readonly ordinal: number;
  readonly type: "node.stream.delta" | "node.log";
  readonly payload: object;
}

/** How a run began. */
export interface RunOrigin {
  /** JSON text. */
  readonly input: string;
  /** What its first event says beside the input. */
  readonly started: FactOf<"run.started">["payload"];
  /** Its metadata as they are now: the text of a JSON object. */
  readonly metadata: string | undefined;
}

export interface LogCursor {
  readonly runId: RunId;
  /** The last seq the reader has. 0 for none. */
  readonly afterSeq: number;
}

export interface EventPage {
  readonly events: readonly RunEvent[];
  /** False only if the page certainly reached the end of the log at that time. */
  readonly hasMore: boolean;
}

export interface TagRecord {
  readonly runId: RunId;
  readonly nodeId: string;
  readonly iteration: number;
  readonly seq: number;
  readonly tag: string;
  /** A JSON object as text. */
  readonly metadata: string;
  readonly at: number;
}

export interface TagPage {
  readonly tags: readonly TagRecord[];
  readonly hasMore: boolean;
}
