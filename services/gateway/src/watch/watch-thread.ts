// Streams the runs of a thread one after the other, for WatchThread and SSE. The store gives each run a turn when it takes the thread or ends
// without it. Turns are given in the order of commits, and at most one run with a turn has not ended. So the stream is each run whole, in the
// order of turns, and its cursor is a run and an event of it.
//
// States: begin (the place of the cursor) → read (a watch of each next run to its end) ⇄ wait (the caller has every run) → over.
//
// Races. A run takes the thread when the run before it ends, in one transaction: the read after the terminal event finds the next run. A run
// is enqueued, stopped or rolled back while the caller was away: it has a turn after the cursor, or none yet. A user deletes the thread, and
// perhaps creates another one of the same id: the stream compares the time of creation. Retention removes a run before the stream came to
// it: the stream does not have it. It removes the run of the cursor: the cursor is refused, unless it is after the end of that run.

import { EngineError } from "@pawl/core/fault/engine-error";
import { isTerminalType } from "@pawl/core/log/event";
import type { RunId } from "@pawl/core/name/ids";
import type {
  ThreadKey,
  ThreadNews,
  ThreadPlace,
  ThreadTurn,
} from "@pawl/platform/store/threads/threads";
import { threadNotFound } from "@pawl/platform/wire/thread";
import type { View } from "../request/view-fields.ts";
import { withCursor } from "./cursor-errors.ts";
import type { Fanout } from "./fanout.ts";
import type { OpenCursor, SameThread, ThreadCursors } from "./thread-cursors.ts";
import type { ThreadHub, ThreadSeat } from "./thread-hub.ts";
import { eventOf, type Form, formsOf, type ViewDeps } from "./view.ts";
import { attended, FIRST_BEAT_MS } from "./watch-run.ts";

interface ThreadWatchDeps extends ViewDeps {
  readonly fanout: Pick<Fanout, "admit" | "enlist">;
  readonly hub: ThreadHub;
  /** The place before the run that holds a thread, or after its last run. @throws STORE_UNAVAILABLE */
  readonly readPresent: (
    key: ThreadKey,
  ) => Promise<Pick<ThreadPlace, "turn" | "position"> | undefined>;
  readonly textOf: ThreadCursors["textOf"];
  readonly heartbeatMs: number;
  readonly abandonMs: number;
}

export interface ThreadWatchRequest {
  readonly key: ThreadKey;
  readonly cursor?: OpenCursor | undefined;
  /** Ends the stream when the caller has everything and no run holds the thread. */
  readonly untilIdle: boolean;
  /** Without a cursor: begins with the run that holds the thread, or with the next one. */
  readonly skipFinished: boolean;
  readonly view: View;
  readonly signal: AbortSignal;
  /** Closes the connection without a message. */
  readonly abandon?: () => void;
}

/** Events of one run. Without a run it is a heartbeat. */
export interface ThreadBatch {
  readonly runId?: RunId;
  readonly batch: readonly Form[];
  /** The cursor of an event of the batch is this text, a dot and the event id. */
  readonly mark: string;
  /** The cursor after the batch. Empty before the first run. */
  readonly cursor: string;
}

export type ThreadStream = AsyncGenerator<ThreadBatch, void, undefined>;
export type WatchThread = (request: ThreadWatchRequest) => ThreadStream;

/**
 * Watches a thread. Ends when the signal aborts, or with `untilIdle`.
 * @throws THREAD_NOT_FOUND, INPUT_INVALID, CURSOR_OUT_OF_RANGE, STREAM_LIMIT, DRAINING, STORE_UNAVAILABLE, EVENT_LOG_CORRUPTION. Once the
 * stream has begun, their metadata holds the `cursor` for the next call.
 */
export async function* watchThread(
  deps: ThreadWatchDeps,
  request: ThreadWatchRequest,
): ThreadStream {
  const discharge = deps.fanout.admit();
  const { seat, leave } = deps.hub.join(request.key);
  const delist = deps.fanout.enlist(seat);
  const reader = new ThreadReader(deps, request, seat);
  try {
    yield* attended(reader.read(), deps.abandonMs, request.abandon);
  } catch (error) {
    throw withCursor(error, reader.cursor);
  } finally {
    delist();
    leave();
    discharge();
  }
}

/** The position of one stream in a thread. */
class ThreadReader {
  readonly #deps: ThreadWatchDeps;
  readonly #request: ThreadWatchRequest;
  readonly #seat: ThreadSeat;
  cursor = "";
  #thread: SameThread | undefined;
  /** The last run that the caller has whole. */
  #place = { turn: 0, position: 0 };
  /** Where to begin in the run of the caller's cursor. */
  #resume: { readonly runId: RunId; readonly afterSeq: number } | undefined;
  #hasSent = false;

  constructor(deps: ThreadWatchDeps, request: ThreadWatchRequest, seat: ThreadSeat) {
    this.#deps = deps;
    this.#request = request;
    this.#seat = seat;
  }

  async *read(): ThreadStream {
    const { signal, untilIdle } = this.#request;
    await this.#begin();
    while (!signal.aborted) {
      const news = await this.#look();
      for (const turn of news?.turns ?? []) {
        yield* this.#readRun(turn);
        if (signal.aborted) return;
        this.#place = turn;
      }
      if (news !== undefined && news.turns.length > 0) continue;
      if (untilIdle && news?.isIdle === true) return;
      yield* this.#wait();
    }
  }

  /** Moves to the place of the caller's cursor. */
  async #begin(): Promise<void> {
    const { cursor, skipFinished, key } = this.#request;
    if (cursor === undefined) {
      if (!skipFinished) return;
      const present = await this.#deps.readPresent(key);
      if (present === undefined) throw threadNotFound(key.threadId);
      this.#place = present;
      return;
    }
    const { mark, afterSeq, check } = cursor;
    const { turn, position, runId, lastSeq } = mark;
    const before = { turn, position: position - 1 };
    const news = await this.#deps.hub.next({ ...key, ...before });
    const thread = this.#sameThread(news);
    await check(thread);
    this.cursor = `${await this.#deps.textOf(thread, mark)}.${afterSeq}`;
    if (news?.turns[0]?.runId === runId) {
      this.#place = before;
      this.#resume = { runId, afterSeq };
    } else if (afterSeq === 0 || afterSeq === lastSeq) {
      this.#place = { turn, position };
    } else {
      throw removed(runId);
    }
  }

  /** The next runs. Undefined while the store cannot answer a stream that has begun. */
  async #look(): Promise<ThreadNews | undefined> {
    this.#seat.forget();
    try {
      const news = await this.#deps.hub.next({ ...this.#request.key, ...this.#place });
      this.#sameThread(news);
      return news;
    } catch (error) {
      if (this.#hasSent && isReason(error, "STORE_UNAVAILABLE")) return undefined;
      throw error;
    }
  }

  /** @throws THREAD_NOT_FOUND if the thread was deleted, also if a user created another one of the same id */
  #sameThread(news: ThreadNews | undefined): SameThread {
    const { key } = this.#request;
    if (news === undefined) throw threadNotFound(key.threadId);
    this.#thread ??= { ...key, createdAt: news.createdAt };
    if (this.#thread.createdAt !== news.createdAt) throw threadNotFound(key.threadId);
    return this.#thread;
  }

  async *#readRun(turn: ThreadTurn): ThreadStream {
    const { view, signal } = this.#request;
    const { runId } = turn;
    const afterSeq = this.#resume?.runId === runId ? this.#resume.afterSeq : 0;
    this.#resume = undefined;
    let mark = await this.#markOf(turn, 0);
    this.cursor = `${mark}.${afterSeq}`;
    let hasEvents = afterSeq > 0;
    const asked = { runId, afterSeq, view, signal, isPart: true, mayLackNodes: true };
    try {
      for await (const batch of formsOf(this.#deps, asked)) {
        this.#hasSent = true;
        const last = batch.at(-1);
        if (last === undefined) {
          yield { batch, mark, cursor: this.cursor };
          continue;
        }
        const { seq, type } = eventOf(last);
        if (isTerminalType(type)) mark = await this.#markOf(turn, seq);
        hasEvents = true;
        this.cursor = `${mark}.${seq}`;
        yield { runId, batch, mark, cursor: this.cursor };
      }
    } catch (error) {
      this.#noteCursor(error, mark);
      if (!isReason(error, "RUN_NOT_FOUND")) throw error;
      // The run was removed: with its thread, or alone.
      this.#sameThread(await this.#deps.hub.next({ ...this.#request.key, ...this.#place }));
      if (hasEvents) throw removed(runId);
    }
  }

  /** A watch that was cut off has passed events that its filter leaves out. */
  #noteCursor(error: unknown, mark: string): void {
    const seq = error instanceof EngineError ? error.metadata["cursor"] : undefined;
    if (seq !== undefined) this.cursor = `${mark}.${seq}`;
  }

  async #markOf({ runId, turn, position }: ThreadTurn, lastSeq: number): Promise<string> {
    if (this.#thread === undefined) return "";
    return await this.#deps.textOf(this.#thread, { runId, turn, position, lastSeq });
  }

  /** Sends heartbeats until the hub has news. */
  async *#wait(): ThreadStream {
    for (;;) {
      const beatMs = this.#hasSent ? this.#deps.heartbeatMs : FIRST_BEAT_MS;
      const waited = await this.#seat.wait(beatMs, this.#request.signal);
      if (waited === "ended") throw this.#seat.end;
      if (waited !== "timeout") return;
      this.#hasSent = true;
      yield { batch: [], mark: "", cursor: this.cursor };
    }
  }
}

const isReason = (error: unknown, reason: string): boolean =>
  error instanceof EngineError && error.reason === reason;

const removed = (runId: RunId): EngineError =>
  new EngineError(
    "CURSOR_OUT_OF_RANGE",
    `The cursor is in run ${runId}, which was removed. Read without a cursor.`,
    { metadata: { run_id: runId } },
  );
