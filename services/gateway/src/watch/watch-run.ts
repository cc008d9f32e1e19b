// Every event of a run after a cursor, then live ones, until the terminal event: what WatchRun and SSE stand on.
//
// States: replay (pages straight from the store, at the reader's own pace) → joined (fed by the tail) → done; joined → replay
// when the buffer ran over although the reader was quick.
//
// The race it survives, between replay and live tail: an event may commit after the last page was read and before the
// reader sits at the tail. Taking the seat is one synchronous step that also tells where the tail stands; all after that point
// is pushed, all up to it is read from the store afterwards, and whatever comes twice is dropped by its seq. So there is
// neither gap nor repeat, whichever side is ahead.

import { EngineError } from "@pawl/core/fault/engine-error";
import { isFinal, isTerminalType, type RunEvent } from "@pawl/core/log/event";
import type { RunId } from "@pawl/core/name/ids";
import { probe } from "@pawl/platform/lifecycle/probe";
import type { EventPage, LogCursor } from "@pawl/platform/store/log/log";
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import type { EventScope } from "@pawl/platform/wire/event";
import type { HintMark } from "./endings.ts";
import type { Fanout, Seat } from "./fanout.ts";
import { LoggedEvent } from "./logged-event.ts";

export interface WatchedRun {
  readonly status: Parameters<typeof isFinal>[0];
  readonly lastSeq: number;
  readonly scope: EventScope;
}

/** A run whose caller has started it just now and waits for its end. */
export interface KnownRun extends WatchedRun {
  /** Taken before the run was asked for. */
  readonly since: HintMark;
}

export interface WatchDeps {
  readonly fanout: Fanout;
  /** @throws RUN_NOT_FOUND, STORE_UNAVAILABLE */
  readonly findRun: (runId: RunId) => Promise<WatchedRun>;
  /** A page of one log; replays of many readers share a statement. */
  readonly readPage: (cursor: LogCursor) => Promise<EventPage>;
  readonly heartbeatMs: number;
  /** A reader that leaves a full buffer alone for longer than this is too slow for a live stream. */
  readonly stallMs: number;
  /** A connection that takes nothing at all for this long is cut: it can no longer be told anything. */
  readonly abandonMs: number;
}

/** Heartbeats before proxies grow impatient; five seconds is an age for a reader that is alive. */
export const WATCH_DEFAULTS = { heartbeatMs: 15_000, stallMs: 5_000, abandonMs: 60_000 } as const;

/** A live log this short is read by its tail, together with others; a longer one first replays by itself. */
const SHORT_REPLAY = 100;
/** A stream that has nothing to say says so early: headers go out with the first message, and callers wait for them. */
const FIRST_BEAT_MS = 200;

export interface WatchRequest {
  readonly runId: RunId;
  readonly afterSeq: number;
  /** Only these types, and the terminal event; empty means all. */
  readonly types: ReadonlySet<string>;
  readonly signal: AbortSignal;
  /** Cuts the connection without a word. */
  readonly abandon?: () => void;
  /** Spares the reads that would find out about the run; only for those who wait for its end. */
  readonly known?: KnownRun;
}

/** Batches of events in order; an empty batch is a heartbeat. */
export type WatchStream = AsyncGenerator<readonly LoggedEvent[], void, undefined>;

/**
 * Watches a run. Ends after the terminal event or when the signal aborts.
 * @throws RUN_NOT_FOUND, CURSOR_OUT_OF_RANGE, STREAM_LIMIT, DRAINING, STORE_UNAVAILABLE; once the stream has begun, the
 * metadata of each holds the `cursor` to read on from.
 */
export async function* watchRun(deps: WatchDeps, request: WatchRequest): WatchStream {
  const reader = new Reader(deps, request);
  let discharge: (() => void) | undefined;
  try {
    discharge = deps.fanout.admit();
    for await (const batch of reader.read()) {
      const timer = setTimeout(() => request.abandon?.(), deps.abandonMs);
      try {
        yield batch;
      } finally {
        clearTimeout(timer);
      }
    }
  } catch (error) {
    throw withCursor(error, reader.cursor);
  } finally {
    discharge?.();
  }
}

/** One reader's way through a log. */
class Reader {
  readonly #deps: WatchDeps;
  readonly #request: WatchRequest;
  #cursor: number;
  #isDone = false;
  #hasSent = false;
  #scope: EventScope | undefined;

  constructor(deps: WatchDeps, request: WatchRequest) {
    this.#deps = deps;
    this.#request = request;
    this.#cursor = request.afterSeq;
  }

  /** The last seq that was handed out or filtered away. */
  get cursor(): number {
    return this.#cursor;
  }

  async *read(): WatchStream {
    const { runId, signal, known } = this.#request;
    const run = known ?? (await this.#deps.findRun(runId));
    checkCursor(this.#cursor, run.lastSeq);
    this.#scope = run.scope;
    if (isFinal(run.status) && this.#cursor >= run.lastSeq) return;
    // The terminal event is the last one of a log, so all that is known to come before it can be passed over.
    const isEndOnly = wantsEndOnly(this.#request.types);
    if (isEndOnly)
      this.#cursor = Math.max(this.#cursor, run.lastSeq - (isFinal(run.status) ? 1 : 0));
    let isLong = isFinal(run.status) || run.lastSeq - this.#cursor > SHORT_REPLAY;
    while (!this.#isDone && !signal.aborted) {
      if (isLong) yield* this.#replay(Number.POSITIVE_INFINITY);
      if (this.#isDone || signal.aborted) return;
      const seat = this.#deps.fanout.join({
        runId,
        scope: run.scope,
        afterSeq: this.#cursor,
        isEndOnly,
        since: known?.since,
      });
      try {
        yield* this.#replay(seat.joinedAfter);
        probe("watch.after-replay");
        if (!this.#isDone) yield* this.#follow(seat);
      } finally {
        seat.leave();
      }
      // Only a buffer that ran over leads here: the reader has fallen behind and catches up from the store.
      isLong = true;
    }
  }

  /** Pages from the store until the log, or `upTo`, is reached. */
  async *#replay(upTo: number): WatchStream {
    while (this.#cursor < upTo && !this.#isDone && !this.#request.signal.aborted) {
      this.#deps.fanout.throwIfDraining();
      const page = await this.#deps.readPage({
        runId: this.#request.runId,
        afterSeq: this.#cursor,
      });
      const scope = this.#scope;
      if (scope === undefined) return;
      yield* this.#emit(page.events.map((event) => new LoggedEvent(event, scope)));
      if (!page.hasMore) return;
    }
  }

  /** What the tail pushes, with heartbeats, until the end or an overflow that is forgiven. */
  async *#follow(seat: Seat): WatchStream {
    const { subscriber } = seat;
    let silentSince = performance.now();
    for (;;) {
      const beatMs = this.#hasSent ? this.#deps.heartbeatMs : FIRST_BEAT_MS;
      const leftMs = Math.max(1, silentSince + beatMs - performance.now());
      const waited = await subscriber.wait(leftMs, this.#request.signal);
      switch (waited) {
        case "events": {
          const fresh = subscriber.take().filter(({ event }) => event.seq > this.#cursor);
          for await (const batch of this.#emit(fresh)) {
            yield batch;
            silentSince = performance.now();
          }
          if (this.#isDone) return;
          break;
        }
        case "timeout":
          yield* this.#beat();
          silentSince = performance.now();
          break;
        case "overflowed":
          this.#forgive(subscriber.overflowedAt ?? 0);
          return;
        case "ended":
          throw subscriber.end;
        case "aborted":
          this.#isDone = true;
          return;
      }
    }
  }

  /** Hands on what the filter lets through, and moves the cursor past all of it. */
  async *#emit(events: readonly LoggedEvent[]): WatchStream {
    const last = events.at(-1);
    if (last === undefined) return;
    const wanted = events.filter(({ event }) => this.#isWanted(event));
    if (wanted.length > 0) {
      this.#hasSent = true;
      yield wanted;
    }
    this.#cursor = last.event.seq;
    if (isTerminalType(last.event.type)) this.#isDone = true;
  }

  /** A heartbeat, if the run still exists: a run that was deleted has no news for ever. @throws RUN_NOT_FOUND */
  async *#beat(): WatchStream {
    if (this.#hasSent) await this.#checkExists();
    this.#hasSent = true;
    yield [];
  }

  async #checkExists(): Promise<void> {
    try {
      await this.#deps.findRun(this.#request.runId);
    } catch (error) {
      // Without the store the stream keeps its heartbeats and waits.
      if (error instanceof EngineError && error.reason === "RUN_NOT_FOUND") throw error;
    }
  }

  #isWanted(event: RunEvent): boolean {
    const { types } = this.#request;
    return types.size === 0 || types.has(event.type) || isTerminalType(event.type);
  }

  #forgive(overflowedAt: number): void {
    if (performance.now() - overflowedAt <= this.#deps.stallMs) return;
    METRICS.streamCutoffs.add(1, {});
    throw new EngineError(
      "STREAM_LIMIT",
      "The reader is too slow for a live stream; read on from the cursor.",
      { retryAfterMs: 1_000 },
    );
  }
}

/** Whether nothing but the terminal event is asked for. */
export const wantsEndOnly = (types: ReadonlySet<string>): boolean =>
  types.size > 0 && [...types].every(isTerminalType);

function checkCursor(afterSeq: number, lastSeq: number): void {
  if (afterSeq <= lastSeq) return;
  throw new EngineError(
    "CURSOR_OUT_OF_RANGE",
    `The log ends at event ${lastSeq}; the cursor is beyond it.`,
    { metadata: { cursor: String(afterSeq), last_event_id: String(lastSeq) } },
  );
}

/** A stream that ends early says where to read on. */
function withCursor(error: unknown, cursor: number): unknown {
  if (!(error instanceof EngineError) || "cursor" in error.metadata) return error;
  return new EngineError(error.reason, error.message, {
    metadata: { ...error.metadata, cursor: String(cursor) },
    violations: error.violations,
    ...(error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }),
    cause: error,
  });
}
