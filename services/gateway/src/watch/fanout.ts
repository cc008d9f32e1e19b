// The hub between notifications, polls, tails and readers: one tail for each watched run, and many subscribers. All tails with news
// share one read statement at a time.
//
// The gateway polls watched runs every 5 s, and every second while no notifications can arrive. So a lost NOTIFY costs latency only.
//
// Race: a notification arrives before its tail is opened. So a new tail reads the log at once. Exception: its first subscriber waits for
// the end of a run that was just started. Then platform/src/ends knows the notifications since then, and the tail reads nothing until the
// run ends.

import { EngineError } from "@pawl/core/fault/engine-error";
import type { RunEvent } from "@pawl/core/log/event";
import type { RunId } from "@pawl/core/name/ids";
import { Endings, type NotificationMark } from "@pawl/platform/ends/endings";
import type { EventPage, LogCursor } from "@pawl/platform/store/log/log";
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import type { EventScope } from "@pawl/platform/wire/event";
import { coalesce } from "./coalesce.ts";
import { type BufferLimits, type Listener, Subscriber } from "./subscriber.ts";
import { Tail } from "./tail.ts";

interface FanoutOptions {
  /** Reads a page after each cursor, in one statement. */
  readonly readMany: (cursors: readonly LogCursor[]) => Promise<readonly EventPage[]>;
  readonly subscribersMax: number;
  readonly buffer: BufferLimits;
  readonly pollMs: number;
  readonly pollWithoutNotificationsMs: number;
  readonly retryMs: number;
  /** Called with each poll of the tails. */
  readonly onPoll?: () => void;
}

/** 5,000 streams, each with at most 256 unread events or 1 MiB. */
export const FANOUT_DEFAULTS = {
  subscribersMax: 5_000,
  buffer: { events: 256, bytes: 1024 * 1024 },
  pollMs: 5_000,
  pollWithoutNotificationsMs: 1_000,
  retryMs: 250,
} as const;

/** With more logs in one statement, the first log would wait too long for the last. */
const CURSORS_PER_READ = 500;

// With few runs the gateway reads a new event at once. With many, it waits two milliseconds. Then one statement reads all runs, and one
// message carries several events.
const FEW_TAILS = 4;
const BUSY_PACE_MS = 2;

/** Readers that share a buffer have room for at least so many events each. */
const SHARE_MIN = 16;

/** A request to join the tail of a run. */
export interface SeatRequest {
  readonly runId: RunId;
  readonly scope: EventScope;
  /** The seq after which a new tail begins. */
  readonly afterSeq: number;
  /** Whether the listener wants the terminal event and no other. */
  readonly isEndOnly: boolean;
  /** With `isEndOnly`: the caller started the run after this mark. */
  readonly since?: NotificationMark | undefined;
  /** How many readers share the buffer of one. Default 1. */
  readonly share?: number | undefined;
}

/** A place at a tail. */
interface Place {
  /** The tail pushes every event after this seq. The reader must read those before it from the store. */
  readonly joinedAfter: number;
  readonly leave: () => void;
}

/** The place of a reader, with its buffer. */
export interface Seat extends Place {
  readonly subscriber: Subscriber;
}

export class Fanout {
  readonly #options: FanoutOptions;
  readonly #tails = new Map<RunId, Tail>();
  readonly #open = new Set<Pick<Listener, "finish">>();
  readonly #endings = new Endings();
  readonly #read: (cursor: LogCursor) => Promise<EventPage>;
  #timer: NodeJS.Timeout | undefined;
  #isListening = false;
  #draining: EngineError | undefined;
  #admitted = 0;

  constructor(options: FanoutOptions) {
    this.#options = options;
    this.#read = coalesce({
      load: options.readMany,
      maxKeys: CURSORS_PER_READ,
      paceMs: () => (this.#tails.size > FEW_TAILS ? BUSY_PACE_MS : 0),
    });
  }

  /** The numbers of open streams and of watched runs. */
  get counts() {
    return { streams: this.#admitted, tails: this.#tails.size };
  }

  /** Starts to poll. */
  start(): void {
    this.#schedule();
  }

  /** Ends every stream with DRAINING and takes no more. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#draining = new EngineError("DRAINING", "This gateway is stopping; read on elsewhere.", {
      retryAfterMs: 100,
    });
    for (const open of this.#open) open.finish(this.#draining);
  }

  /** Counts one more stream. Call the result when the stream is over. @throws DRAINING, STREAM_LIMIT */
  admit(): () => void {
    this.throwIfDraining();
    if (this.#admitted >= this.#options.subscribersMax) {
      throw new EngineError("STREAM_LIMIT", "This gateway has no room for another stream.", {
        metadata: { limit: String(this.#options.subscribersMax) },
        retryAfterMs: 1_000,
      });
    }
    this.#admitted += 1;
    METRICS.streamSubscribers.add(1, {});
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#admitted -= 1;
      METRICS.streamSubscribers.add(-1, {});
    };
  }

  /** For readers that have not joined a tail. @throws DRAINING */
  throwIfDraining(): void {
    if (this.#draining !== undefined) throw this.#draining;
  }

  /** Ends `open` with DRAINING when the gateway stops. Call the result when the stream is over. */
  enlist(open: Pick<Listener, "finish">): () => void {
    if (this.#draining !== undefined) open.finish(this.#draining);
    this.#open.add(open);
    return () => void this.#open.delete(open);
  }

  /** Joins the run's tail with a buffer. */
  join(request: SeatRequest): Seat {
    const { isEndOnly, share = 1 } = request;
    const { events, bytes } = this.#options.buffer;
    const limits = {
      events: Math.max(SHARE_MIN, Math.ceil(events / share)),
      bytes: Math.ceil(bytes / share),
    };
    const subscriber = new Subscriber(limits, isEndOnly);
    return { subscriber, ...this.attach(subscriber, request) };
  }

  /** Joins the run's tail. The listener may get events before this returns. */
  attach(listener: Listener, { runId, scope, afterSeq, since }: SeatRequest): Place {
    const delist = this.enlist(listener);
    const watched = this.#tails.get(runId);
    const tail = watched ?? this.#openTail(runId, scope, afterSeq);
    const joinedAfter = tail.cursor;
    tail.add(listener, scope);
    if (watched === undefined) this.#firstLook(tail, since);
    const leave = (): void => {
      delist();
      tail.remove(listener);
    };
    return { joinedAfter, leave };
  }

  /** A notification: the run's log reaches `lastSeq`. `mayBeOver` is false only if the run is known to be live. */
  notify(runId: RunId, lastSeq: number, mayBeOver = true): void {
    if (mayBeOver) this.#endings.note(runId, lastSeq);
    this.#tails.get(runId)?.notify(lastSeq, mayBeOver);
  }

  /** The terminal event of a run, as in the log. */
  ended(event: RunEvent): void {
    this.#endings.note(event.runId, event.seq, event);
    this.#tails.get(event.runId)?.ended(event);
  }

  /** A mark of this moment in the stream of notifications. Take it before you start a run. */
  markNotifications(): NotificationMark {
    return this.#endings.mark();
  }

  /** The terminal event of a run that was started after the mark, if it has arrived. */
  endSince(runId: RunId, since: NotificationMark): RunEvent | undefined {
    const state = this.#endings.stateOf(runId, since);
    return state.kind === "over" ? state.event : undefined;
  }

  /** Any run may have news, also a run without watchers. */
  pollAll(): void {
    this.#endings.interrupt();
    this.#poll();
  }

  /** Whether notifications arrive. */
  setListening(isListening: boolean): void {
    this.#isListening = isListening;
    this.#endings.interrupt();
    if (this.#timer !== undefined) this.#schedule();
  }

  #openTail(runId: RunId, scope: EventScope, afterSeq: number): Tail {
    const tail = new Tail({
      runId,
      scope,
      afterSeq,
      read: this.#read,
      retryMs: this.#options.retryMs,
      onClose: (closed) => {
        if (this.#tails.get(runId) === closed) this.#tails.delete(runId);
      },
    });
    this.#tails.set(runId, tail);
    return tail;
  }

  #firstLook(tail: Tail, since: NotificationMark | undefined): void {
    if (since === undefined || !this.#isListening) return tail.poll();
    const state = this.#endings.stateOf(tail.runId, since);
    if (state.kind === "unknown") tail.poll();
    if (state.kind !== "over") return;
    if (state.event === undefined) tail.notify(state.seq, true);
    else tail.ended(state.event);
  }

  #poll(): void {
    for (const tail of this.#tails.values()) tail.poll();
    this.#options.onPoll?.();
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    const { pollMs, pollWithoutNotificationsMs } = this.#options;
    this.#timer = setTimeout(
      () => {
        this.#poll();
        this.#schedule();
      },
      this.#isListening ? pollMs : pollWithoutNotificationsMs,
    );
    this.#timer.unref();
  }
}
