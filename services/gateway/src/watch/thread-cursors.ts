// The cursors of streams of threads, as such a stream and its callers use them. read/thread-cursor.ts makes and checks their text.

import type { ThreadKey, ThreadTurn } from "@pawl/platform/store/threads/threads";

/** A thread that was not created again. */
export interface SameThread extends ThreadKey {
  readonly createdAt: number;
}

/** A run in a cursor. `lastSeq` is 0 until the stream has seen its end. */
export interface ThreadMark extends ThreadTurn {
  readonly lastSeq: number;
}

/** A cursor that the gateway has read and not yet checked. */
export interface OpenCursor {
  readonly mark: ThreadMark;
  readonly afterSeq: number;
  /** @throws INPUT_INVALID for a cursor that no gateway of this deployment made for this thread */
  readonly check: (thread: SameThread) => Promise<void>;
}

export interface ThreadCursors {
  /** The cursor of a run without the dot and the event id. @throws STORE_UNAVAILABLE */
  readonly textOf: (thread: SameThread, mark: ThreadMark) => Promise<string>;
  /** Reads a cursor of a request. Undefined if it is empty. @throws INPUT_INVALID */
  readonly open: (field: string, text: string) => OpenCursor | undefined;
}
