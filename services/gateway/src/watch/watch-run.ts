// Streams every event of a run after a cursor, then live ones, until the terminal event, for WatchRun and SSE.
//
// States: replay (pages from the store, at the reader's own pace) → joined (the tail pushes) → done; joined → replay if the buffer
// overflowed although the reader was quick.
//
// Race: an event commits after the reader read its last page and before it joins the tail. Joining is one synchronous step that also
// returns the tail's cursor. The tail pushes all events after that cursor. The reader reads all events up to it from the store, and drops
// repeats by their seq. So no event is missing or repeated, whichever side is ahead.

import { EngineError } from "@pawl/core/fault/engine-error";
import { isFinal, isTerminalType } from "@pawl/core/log/event";
import type { RunId } from "@pawl/core/name/ids";
import { probe } from "@pawl/platform/lifecycle/probe";
import type { EventPage, LogCursor } from "@pawl/platform/store/log/log";
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import type { EventScope } from "@pawl/platform/wire/event";
import type { NotificationMark } from "@pawl/platform/ends/endings";
import { checkWithin, withCursor } from "./cursor-errors.ts";
import type { Fanout, Seat } from "./fanout.ts";
import { HeldEvents } from "./held-events.ts";
import { type LoggedEvent, loggedOf } from "./logged-event.ts";

export interface WatchedRun {
  readonly status: Parameters<typeof isFinal>[0];
  readonly lastSeq: number;
  readonly scope: EventScope;
}

/** A run that its caller has just started. The caller waits for its end. */
export interface KnownRun extends WatchedRun {
  /** The mark from before the caller started the run. */
  readonly since: NotificationMark;
}

export interface WatchDeps {
  readonly fanout: Fanout;
  /** @throws RUN_NOT_FOUND, STORE_UNAVAILABLE */
  readonly findRun: (runId: RunId) => Promise<WatchedRun>;
  /** Reads a page of one log. Replays of many readers share a statement. */
  readonly readPage: (cursor: LogCursor) => Promise<EventPage>;
  readonly heartbeatMs: number;
  /** A reader that leaves a full buffer unread for longer than this is too slow for a live stream. */
  readonly stallMs: number;
  /** A reader whose connection accepts no data for this long lets go of the events that it holds. */
  readonly releaseMs: number;
  /** The gateway closes a connection without a message if it accepts no data for this long. */
  readonly abandonMs: number;
}

/** Heartbeats come before proxies close a silent stream. */
export const WATCH_DEFAULTS = {
  ...{ heartbeatMs: 15_000, stallMs: 5_000, releaseMs: 1_000, abandonMs: 60_000 },
} as const;

/** The tail reads a log of at most this length, together with other logs. The reader first replays a longer one itself. */
const SHORT_REPLAY = 100;
/** The first heartbeat of a silent stream comes early, because headers are sent with the first message and callers wait for them. */
export const FIRST_BEAT_MS = 200;

export interface WatchRequest {
  readonly runId: RunId;
  readonly afterSeq: number;
  /** The wanted types. The terminal event is always sent. Empty means all. */
  readonly types: ReadonlySet<string>;
  readonly signal: AbortSignal;
  /** Closes the connection without a message. */
  readonly abandon?: () => void;
  /** How many streams share the buffer of one. Default 1. */
  readonly share?: number;
  /** Whether the watch is a part of a stream that the gateway has counted. */
  readonly isPart?: boolean;
  /** Facts that save the reads about the run. Only callers that wait for its end may use it. */
  readonly known?: KnownRun;
}

/** Watches a run. */
export type Watch = (request: WatchRequest) => WatchStream;
/** Batches of events in order. An empty batch is a heartbeat. */
export type WatchStream = AsyncGenerator<readonly LoggedEvent[], void, undefined>;

/**
 * Watches a run. Ends after the terminal event or when the signal aborts.
 * @throws RUN_NOT_FOUND, CURSOR_OUT_OF_RANGE, STREAM_LIMIT, DRAINING, STORE_UNAVAILABLE. Once the stream has begun, their metadata holds
 * the `cursor` for the next call.
 */
export async function* watchRun(deps: WatchDeps, request: WatchRequest): WatchStream {
  const reader = new Reader(deps, request);
  let discharge: (() => void) | undefined;
  try {
    if (request.isPart !== true) discharge = deps.fanout.admit();
    yield* attended(reader.read(), deps.abandonMs, request.abandon);
  } catch (error) {
    throw withCursor(error, String(reader.cursor));
  } finally {
    discharge?.();
  }
}

/** The same batches. Abandons a connection that accepts no data for too long. */
export async function* attended<Batch>(
  batches: AsyncGenerator<Batch, void, undefined>,
  abandonMs: number,
  abandon: (() => void) | undefined,
): AsyncGenerator<Batch, void, undefined> {
  for await (const batch of batches) {
    const timer = abandon && setTimeout(abandon, abandonMs);
    try {
      yield batch;
    } finally {
      clearTimeout(timer);
    }
  }
}

/** The position of one reader in a log. */
class Reader {
  readonly #deps: WatchDeps;
  readonly #request: WatchRequest;
  /** The last seq that was yielded or filtered out. */
  cursor: number;
  #isDone = false;
  #hasSent = false;
  readonly #held = new HeldEvents();
  /** When it let go of events while it sent the last message, by `performance.now()`. */
  #releasedAt: number | undefined;
  /** The place of this reader at the tail, while it has one. */
  #seat: Seat | undefined;

  constructor(deps: WatchDeps, request: WatchRequest) {
    this.#deps = deps;
    this.#request = request;
    this.cursor = request.afterSeq;
  }

  async *read(): WatchStream {
    const { runId, signal, known } = this.#request;
    const run = known ?? (await this.#deps.findRun(runId));
    checkWithin(this.cursor, run.lastSeq);
    if (isFinal(run.status) && this.cursor >= run.lastSeq) return;
    // The terminal event is the last one of a log, so a reader that wants only it can skip all known events before it.
    const isEndOnly = wantsEndOnly(this.#request.types);
    if (isEndOnly) this.cursor = Math.max(this.cursor, run.lastSeq - (isFinal(run.status) ? 1 : 0));
    let isLong = isFinal(run.status) || run.lastSeq - this.cursor > SHORT_REPLAY;
    while (!this.#isDone && !signal.aborted) {
      if (isLong) yield* this.#replay(run.scope, Number.POSITIVE_INFINITY);
      if (this.#isDone || signal.aborted) return;
      const seat = this.#deps.fanout.join({
        runId,
        scope: run.scope,
        afterSeq: this.cursor,
        isEndOnly,
        since: known?.since,
        share: this.#request.share,
      });
      this.#seat = seat;
      try {
        yield* this.#replay(run.scope, seat.joinedAfter);
        probe("watch.after-replay");
        if (!this.#isDone) yield* this.#follow(seat);
      } finally {
        seat.leave();
        this.#seat = undefined;
      }
      // The buffer overflowed, or was let go. The reader is behind and reads from the store again.
      isLong = true;
    }
  }

  /** Reads pages from the store until the end of the log, or until `upTo`. */
  async *#replay(scope: EventScope, upTo: number): WatchStream {
    const { signal } = this.#request;
    while (this.cursor < upTo && !this.#isDone && !signal.aborted) {
      this.#deps.fanout.throwIfDraining();
      const hasMore = await this.#holdPage(scope);
      yield* this.#emit();
      if (!hasMore && !this.#held.isReleased) return;
      this.#forgive(this.#releasedAt);
    }
  }

  // A generator keeps its variables while it waits. So those that yield have no variable with events, except those of one part.
  async #holdPage(scope: EventScope): Promise<boolean> {
    const { runId } = this.#request;
    const page = await this.#deps.readPage({ runId, afterSeq: this.cursor });
    this.#held.put(page.events.map((event) => loggedOf(event, scope)));
    return page.hasMore;
  }

  #holdPushed({ subscriber }: Seat): void {
    this.#held.put(subscriber.take().filter(({ event }) => event.seq > this.cursor));
  }

  /** Yields the events that the tail pushes, with heartbeats, until the end or an overflow of a quick reader. */
  async *#follow(seat: Seat): WatchStream {
    const { subscriber } = seat;
    let silentSince = performance.now();
    for (;;) {
      const beatMs = this.#hasSent ? this.#deps.heartbeatMs : FIRST_BEAT_MS;
      const leftMs = Math.max(1, silentSince + beatMs - performance.now());
      const waited = await subscriber.wait(leftMs, this.#request.signal);
      switch (waited) {
        case "events":
          this.#holdPushed(seat);
          for await (const batch of this.#emit()) {
            yield batch;
            silentSince = performance.now();
          }
          if (this.#isDone) return;
          break;
        case "timeout":
          yield* this.#beat();
          silentSince = performance.now();
          break;
        case "overflowed":
          this.#forgive(subscriber.overflowedAt);
          return;
        case "released":
          return;
        case "ended":
          throw subscriber.end;
        case "aborted":
          this.#isDone = true;
          return;
      }
    }
  }

  /** Yields the held events that pass the filter, in parts, and moves the cursor past all of them. */
  async *#emit(): WatchStream {
    const { types } = this.#request;
    for (let part = this.#held.next(); part !== undefined; part = this.#held.next()) {
      const wanted = part.filter(
        ({ event: { type } }) => types.size === 0 || types.has(type) || isTerminalType(type),
      );
      if (wanted.length > 0) {
        this.#hasSent = true;
        this.#releasedAt = undefined;
        const timer = setTimeout(() => this.#release(), this.#deps.releaseMs);
        try {
          yield wanted;
        } finally {
          clearTimeout(timer);
        }
      }
      const last = part.at(-1)?.event;
      this.cursor = last?.seq ?? this.cursor;
      if (isTerminalType(last?.type ?? "")) this.#isDone = true;
    }
  }

  #release(): void {
    this.#releasedAt = performance.now();
    this.#held.release();
    this.#seat?.subscriber.release();
  }

  /** A heartbeat, if the run still exists: the stream of a deleted run would never end. @throws RUN_NOT_FOUND */
  async *#beat(): WatchStream {
    try {
      if (this.#hasSent) await this.#deps.findRun(this.#request.runId);
    } catch (error) {
      // Without the store the stream keeps its heartbeats and waits.
      if (error instanceof EngineError && error.reason === "RUN_NOT_FOUND") throw error;
    }
    this.#hasSent = true;
    yield [];
  }

  /** @throws STREAM_LIMIT if the reader has been behind for too long */
  #forgive(behindSince: number | undefined): void {
    if (behindSince === undefined || performance.now() - behindSince <= this.#deps.stallMs) return;
    METRICS.streamCutoffs.add(1, {});
    const message = "The reader is too slow for a live stream; read on from the cursor.";
    throw new EngineError("STREAM_LIMIT", message, { retryAfterMs: 1_000 });
  }
}

/** Whether the caller wants only the terminal event. */
export const wantsEndOnly = (types: ReadonlySet<string>): boolean =>
  types.size > 0 && [...types].every(isTerminalType);
