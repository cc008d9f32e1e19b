// The tail of one run: reads each new event once and gives it to all subscribers. NOTIFY and the poll only say "look again";
// the cursor decides what is new, so a hint that is lost, late or doubled changes nothing.
//
// While all its subscribers only wait for the end, a hint that the run goes on is not worth a read, and what comes before the
// terminal event is passed over: a caller who waits for a run of ten nodes cost the gateway ten reads before, and costs one now.
//
// States: idle ⇄ reading; closed after the terminal event, when the log is gone, or when the last subscriber left. Two races it
// survives: a hint that arrives during a read is remembered and read again afterwards; a test run may be deleted between the
// announcement of its end and the read, and then its streams end with RUN_NOT_FOUND.

import { EngineError } from "@pawl/core/fault/engine-error";
import { isStreamedType, isTerminalType, type RunEvent } from "@pawl/core/log/event";
import type { RunId } from "@pawl/core/name/ids";
import type { EventPage, LogCursor } from "@pawl/platform/store/log/log";
import type { EventScope } from "@pawl/platform/wire/event";
import { LoggedEvent } from "./logged-event.ts";
import type { Subscriber } from "./subscriber.ts";

export interface TailOptions {
  readonly runId: RunId;
  /** Of its first subscriber. */
  readonly scope: EventScope;
  /** Where it begins: the cursor of its first subscriber. */
  readonly afterSeq: number;
  readonly read: (cursor: LogCursor) => Promise<EventPage>;
  /** Called once, when there is nothing left to do. */
  readonly onClose: (tail: Tail) => void;
  /** How long to wait after a read that failed. */
  readonly retryMs: number;
}

export class Tail {
  readonly runId: RunId;
  readonly #options: TailOptions;
  readonly #subscribers = new Set<Subscriber>();
  #scope: EventScope;
  #cursor: number;
  #hint = 0;
  #isPoked = false;
  /** The seq of a terminal event that was announced and must be read from the log. */
  #endSeq = 0;
  /** Whether the run has said partial output: hints may be behind the log then, since it takes seqs that no planner counts. */
  #hasStreamed = false;
  #isReading = false;
  #isClosed = false;

  constructor(options: TailOptions) {
    this.runId = options.runId;
    this.#options = options;
    this.#scope = options.scope;
    this.#cursor = options.afterSeq;
  }

  /** The last seq that subscribers were given; one that joins now gets what comes after it. */
  get cursor(): number {
    return this.#cursor;
  }

  /** Joins; everything after `cursor`, as it is now, will be pushed. */
  add(subscriber: Subscriber, scope: EventScope): void {
    // Who waits for the end alone may know nothing of the nodes; who wants their events does.
    if (!subscriber.isEndOnly) this.#scope = scope;
    // Hints were passed over until now.
    const isMissing = !subscriber.isEndOnly && this.#isEndOnly && this.#subscribers.size > 0;
    this.#subscribers.add(subscriber);
    if (isMissing) this.poke();
  }

  /** Leaves; a tail nobody reads closes. */
  remove(subscriber: Subscriber): void {
    this.#subscribers.delete(subscriber);
    if (this.#subscribers.size === 0) this.#close();
  }

  /** The log is said to reach at least `seq`; 0 says only that there is news. */
  hint(seq: number, mayBeOver: boolean): void {
    if (this.#isEndOnly) {
      if (!mayBeOver) return;
      if (!this.#isReading) this.#cursor = Math.max(this.#cursor, seq - 1);
    }
    // What is read now may be the first partial output.
    if (seq === 0 || this.#hasStreamed || this.#isReading) return this.poke();
    if (seq <= this.#hint || seq <= this.#cursor) return;
    this.#hint = seq;
    this.#start();
  }

  /** The terminal event itself: given on as it is where nothing is missing before it that anybody wants. */
  ended(event: RunEvent): void {
    const isNext = !this.#isReading && event.seq === this.#cursor + 1;
    if (this.#isEndOnly || isNext) return this.#deliver([event]);
    this.#endSeq = event.seq;
    this.hint(event.seq, true);
  }

  /** There may be news. */
  poke(): void {
    this.#isPoked = true;
    this.#start();
  }

  get #isEndOnly(): boolean {
    for (const subscriber of this.#subscribers) if (!subscriber.isEndOnly) return false;
    return true;
  }

  #start(): void {
    if (this.#isReading || this.#isClosed) return;
    this.#isReading = true;
    void this.#readAll();
  }

  async #readAll(): Promise<void> {
    while (!this.#isClosed && (this.#isPoked || this.#hint > this.#cursor)) {
      this.#isPoked = false;
      const hinted = this.#hint;
      const endSeq = this.#endSeq;
      try {
        const page = await this.#options.read({ runId: this.runId, afterSeq: this.#cursor });
        this.#deliver(page.events);
        if (page.events.length === 0 && endSeq > this.#cursor) return this.#deleted();
        if (page.hasMore) this.#isPoked = true;
        // A hint that proved empty is not asked again; the poll will.
        else if (page.events.length === 0 && this.#hint === hinted) this.#hint = this.#cursor;
      } catch {
        // The store is away: subscribers keep their heartbeats, and the same read is tried until it succeeds.
        this.#isPoked = true;
        await new Promise((resolve) => setTimeout(resolve, this.#options.retryMs).unref());
      }
    }
    this.#isReading = false;
  }

  #deliver(events: readonly RunEvent[]): void {
    const last = events.at(-1);
    if (last === undefined || this.#isClosed) return;
    const logged = events.map((event) => new LoggedEvent(event, this.#scope));
    const bytes = logged.reduce((sum, event) => sum + event.bytes, 0);
    this.#cursor = last.seq;
    this.#hasStreamed ||= events.some(({ type }) => isStreamedType(type));
    for (const subscriber of this.#subscribers) {
      if (!subscriber.push(logged, bytes)) this.#subscribers.delete(subscriber);
    }
    if (isTerminalType(last.type) || this.#subscribers.size === 0) this.#close();
  }

  /** The end was committed before the read began, and the log does not have it: the run was deleted. */
  #deleted(): void {
    const error = runDeleted(this.runId);
    for (const subscriber of this.#subscribers) subscriber.finish(error);
    this.#close();
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#options.onClose(this);
  }
}

/** A stream ends with this when its run was deleted under it. */
export const runDeleted = (runId: RunId): EngineError =>
  new EngineError("RUN_NOT_FOUND", `The run ${runId} was deleted.`, {
    metadata: { run_id: runId },
  });
