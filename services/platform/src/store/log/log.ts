// The log as readers see it: pages of events, and of the tags that events have.

import type { RunEvent } from "@pawl/core/log/event";
import type { RunId } from "@pawl/core/name/ids";

export interface LogCursor {
  readonly runId: RunId;
  /** The last seq the reader has; 0 for none. */
  readonly afterSeq: number;
}

export interface EventPage {
  readonly events: readonly RunEvent[];
  /** False only when the page certainly reached the end of the log as it was. */
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
