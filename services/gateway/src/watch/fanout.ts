// One tail per watched run, many subscribers: the hub that connects hints, polls, tails and readers. All tails that have news
// share one read statement at a time.
//
// It polls what is watched: every 5 s, and every second while hints do not arrive, so a lost NOTIFY costs latency only.
//
// The race it survives: hints that came before a tail was opened went past it. So a new tail looks for itself, unless its first
// subscriber waits for the end of a run that was started just now: then what hints said of it meanwhile is known (endings.ts), and
// a run that is not over costs no read until it is.

import { ChurnMap } from "@pawl/core/data/churn-map";
import { EngineError } from "@pawl/core/fault/engine-error";
import type { RunEvent } from "@pawl/core/log/event";
import type { RunId } from "@pawl/core/name/ids";
import type { EventPage, LogCursor } from "@pawl/platform/store/log/log";
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import type { EventScope } from "@pawl/platform/wire/event";
import { coalesce } from "./coalesce.ts";
import { Endings, type HintMark } from "./endings.ts";
import { type BufferLimits, Subscriber } from "./subscriber.ts";
import { Tail } from "./tail.ts";

export interface FanoutOptions {
  /** Reads a page after each cursor, in one statement. */
  readonly readMany: (cursors: readonly LogCursor[]) => Promise<readonly EventPage[]>;
  readonly subscribersMax: number;
  readonly buffer: BufferLimits;
  readonly pollMs: number;
  readonly pollWithoutHintsMs: number;
  readonly retryMs: number;
}

/** 5,000 streams, each of at most 256 events or 1 MiB that its reader has not taken. */
export const FANOUT_DEFAULTS = {
  subscribersMax: 5_000,
  buffer: { events: 256, bytes: 1024 * 1024 },
  pollMs: 5_000,
  pollWithoutHintsMs: 1_000,
  retryMs: 250,
} as const;

/** More logs than this in one statement would make the first of them wait for the last. */
const CURSORS_PER_READ = 500;

// With few runs a new event is read at once. With many, two milliseconds of patience turn a statement and a message per event
// into a statement for all runs and a message for several events.
const FEW_TAILS = 4;
const BUSY_PACE_MS = 2;

/** Who wants a seat at which tail. */
export interface SeatRequest {
  readonly runId: RunId;
  readonly scope: EventScope;
  /** Where a tail is opened when nobody watches the run yet. */
  readonly afterSeq: number;
  /** Waits for the terminal event and wants no other. */
  readonly isEndOnly: boolean;
  /** With `isEndOnly`, for a run that was started after this mark. */
  readonly since?: HintMark | undefined;
}

/** A seat at a tail. */
export interface Seat {
  readonly subscriber: Subscriber;
  /** The subscriber gets every event after this seq; what is before it must be read from the store. */
  readonly joinedAfter: number;
  readonly leave: () => void;
}

export class Fanout {
  readonly #options: FanoutOptions;
  readonly #tails = new ChurnMap<RunId, Tail>();
  readonly #open = new ChurnMap<number, Subscriber>();
  readonly #endings = new Endings();
  #lastOpen = 0;
  readonly #read: (cursor: LogCursor) => Promise<EventPage>;
  #timer: NodeJS.Timeout | undefined;
  #hasHints = false;
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

  /** How many streams are open. */
  get subscriberCount(): number {
    return this.#admitted;
  }

  /** How many runs are watched. */
  get tailCount(): number {
    return this.#tails.size;
  }

  /** Begins to poll. */
  start(): void {
    this.#schedule();
  }

  /** Ends every stream with DRAINING and takes no more. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#draining = new EngineError("DRAINING", "This gateway is stopping; read on elsewhere.", {
      retryAfterMs: 100,
    });
    for (const subscriber of this.#open.values()) subscriber.finish(this.#draining);
  }

  /** Counts a stream in; call the result when it is over. @throws DRAINING, STREAM_LIMIT */
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

  /** For readers that do not sit at a tail. @throws DRAINING */
  throwIfDraining(): void {
    if (this.#draining !== undefined) throw this.#draining;
  }

  /** Takes a seat at the run's tail. */
  join({ runId, scope, afterSeq, isEndOnly, since }: SeatRequest): Seat {
    const subscriber = new Subscriber(this.#options.buffer, isEndOnly);
    if (this.#draining !== undefined) subscriber.finish(this.#draining);
    const watched = this.#tails.get(runId);
    const tail = watched ?? this.#openTail(runId, scope, afterSeq);
    const joinedAfter = tail.cursor;
    tail.add(subscriber, scope);
    if (watched === undefined) this.#firstLook(tail, since);
    const number = ++this.#lastOpen;
    this.#open.set(number, subscriber);
    const leave = (): void => {
      this.#open.delete(number);
      tail.remove(subscriber);
    };
    return { subscriber, joinedAfter, leave };
  }

  /** A hint: the run's log reaches `lastSeq`; `mayBeOver` unless it is known to go on. */
  hint(runId: RunId, lastSeq: number, mayBeOver = true): void {
    if (mayBeOver) this.#endings.note(runId, lastSeq);
    this.#tails.get(runId)?.hint(lastSeq, mayBeOver);
  }

  /** The terminal event of a run, as it is in the log. */
  ended(event: RunEvent): void {
    this.#endings.note(event.runId, event.seq, event);
    this.#tails.get(event.runId)?.ended(event);
  }

  /** This moment in the stream of hints, for `since` of who is about to start a run. */
  markHints(): HintMark {
    return this.#endings.mark();
  }

  /** The terminal event of a run that was started after the mark, where it has come already. */
  endSince(runId: RunId, since: HintMark): RunEvent | undefined {
    const heard = this.#endings.heard(runId, since);
    return heard.kind === "over" ? heard.event : undefined;
  }

  /** Any run may have news, one that nobody watches as well. */
  pokeAll(): void {
    this.#endings.interrupt();
    this.#poll();
  }

  /** Whether hints arrive. */
  setHints(hasHints: boolean): void {
    this.#hasHints = hasHints;
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

  #firstLook(tail: Tail, since: HintMark | undefined): void {
    const heard =
      since === undefined || !this.#hasHints
        ? ({ kind: "unheard" } as const)
        : this.#endings.heard(tail.runId, since);
    if (heard.kind === "unheard") tail.poke();
    if (heard.kind !== "over") return;
    if (heard.event === undefined) tail.hint(heard.seq, true);
    else tail.ended(heard.event);
  }

  #poll(): void {
    for (const tail of this.#tails.values()) tail.poke();
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    const { pollMs, pollWithoutHintsMs } = this.#options;
    this.#timer = setTimeout(
      () => {
        this.#poll();
        this.#schedule();
      },
      this.#hasHints ? pollMs : pollWithoutHintsMs,
    );
    this.#timer.unref();
  }
}
