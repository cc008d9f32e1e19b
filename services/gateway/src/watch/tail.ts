// The tail of one run: reads each new event once and pushes it to all subscribers. NOTIFY and the poll only trigger a read. The cursor
// decides which events are new, so a notification that is lost, late or doubled changes nothing.
//
// While all subscribers wait only for the end, the tail ignores notifications of a live run and skips the events before the terminal one.
// So a caller that waits for a run of ten nodes costs one read instead of ten.
//
// States: idle ⇄ reading; closed after the terminal event, when the log is missing, or when the last subscriber has left.
//
// Races. A notification arrives during a read: the tail reads again afterwards. A user deletes a test run between the notification of its end
// and the read: its streams end with RUN_NOT_FOUND.

import { EngineError } from "@pawl/core/fault/engine-error";
import { isStreamedType, isTerminalType, type RunEvent } from "@pawl/core/log/event";
import type { RunId } from "@pawl/core/name/ids";
import type { EventPage, LogCursor } from "@pawl/platform/store/log/log";
import type { EventScope } from "@pawl/platform/wire/event";
import { LoggedEvent } from "./logged-event.ts";
import type { Listener } from "./subscriber.ts";

interface TailOptions {
  readonly runId: RunId;
  readonly scope: EventScope;
  /** The seq after which the tail begins. */
  readonly afterSeq: number;
  readonly read: (cursor: LogCursor) => Promise<EventPage>;
  /** Called once, when the tail is closed. */
  readonly onClose: (tail: Tail) => void;
  /** The wait after a failed read. */
  readonly retryMs: number;
}

export class Tail {
  readonly runId: RunId;
  readonly #options: TailOptions;
  readonly #subscribers = new Set<Listener>();
  #scope: EventScope;
  /** The last seq that was pushed. A subscriber that joins now gets the events after it. */
  cursor: number;
  #notifiedSeq = 0;
  #isPolled = false;
  /** The seq of a terminal event that was notified and must be read from the log. */
  #endSeq = 0;
  /** Whether the run has stream deltas. Hints do not count their seqs, so notifications may be behind the log. */
  #hasStreamed = false;
  #isReading = false;
  #isClosed = false;

  constructor(options: TailOptions) {
    this.runId = options.runId;
    this.#options = options;
    this.#scope = options.scope;
    this.cursor = options.afterSeq;
  }

  /** Adds a subscriber. It gets every event after the present `cursor`. */
  add(subscriber: Listener, scope: EventScope): void {
    // A subscriber that waits only for the end may not know the nodes. Every other one does.
    if (!subscriber.isEndOnly) this.#scope = scope;
    // The tail has ignored notifications until now.
    const isMissing = !subscriber.isEndOnly && this.#isEndOnly && this.#subscribers.size > 0;
    this.#subscribers.add(subscriber);
    if (isMissing) this.poll();
  }

  /** Removes a subscriber. A tail without subscribers closes. */
  remove(subscriber: Listener): void {
    this.#subscribers.delete(subscriber);
    if (this.#subscribers.size === 0) this.#close();
  }

  /** A notification that the log reaches at least `seq`. 0 means only that there may be new events. */
  notify(seq: number, mayBeOver: boolean): void {
    if (this.#isEndOnly) {
      if (!mayBeOver) return;
      if (!this.#isReading) this.cursor = Math.max(this.cursor, seq - 1);
    }
    // The read that runs now may find the first stream delta.
    if (seq === 0 || this.#hasStreamed || this.#isReading) return this.poll();
    if (seq <= this.#notifiedSeq || seq <= this.cursor) return;
    this.#notifiedSeq = seq;
    this.#start();
  }

  /** Pushes the terminal event itself, unless subscribers miss events before it. */
  ended(event: RunEvent): void {
    const isNext = !this.#isReading && event.seq === this.cursor + 1;
    if (this.#isEndOnly || isNext) return this.#deliver([event]);
    this.#endSeq = event.seq;
    this.notify(event.seq, true);
  }

  /** A notification that there may be new events. */
  poll(): void {
    this.#isPolled = true;
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
    while (!this.#isClosed && (this.#isPolled || this.#notifiedSeq > this.cursor)) {
      this.#isPolled = false;
      const notifiedSeq = this.#notifiedSeq;
      const endSeq = this.#endSeq;
      try {
        const page = await this.#options.read({ runId: this.runId, afterSeq: this.cursor });
        this.#deliver(page.events);
        if (page.events.length === 0 && endSeq > this.cursor) return this.#deleted();
        if (page.hasMore) this.#isPolled = true;
        // The log has no event for this notification yet. The poll finds it.
        else if (page.events.length === 0 && this.#notifiedSeq === notifiedSeq)
          this.#notifiedSeq = this.cursor;
      } catch {
        // The store is down. Subscribers keep their heartbeats, and the tail repeats the read until it succeeds.
        this.#isPolled = true;
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
    this.cursor = last.seq;
    this.#hasStreamed ||= events.some(({ type }) => isStreamedType(type));
    for (const subscriber of this.#subscribers) {
      if (!subscriber.push(logged, bytes)) this.#subscribers.delete(subscriber);
    }
    if (isTerminalType(last.type) || this.#subscribers.size === 0) this.#close();
  }

  /** The log does not hold an end that was committed before the read began, so the run was deleted. */
  #deleted(): void {
    const error = new EngineError("RUN_NOT_FOUND", `The run ${this.runId} was deleted.`, {
      metadata: { run_id: this.runId },
    });
    for (const subscriber of this.#subscribers) subscriber.finish(error);
    this.#close();
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#options.onClose(this);
  }
}
