// One live reader of a run: a bounded buffer between the tail, which never waits, and a connection, which may.
//
// States: open → released (the connection accepts nothing; the buffer is emptied, and events only count) → overflowed (the tail pushed more
// than the buffer holds; the buffer is emptied, and the tail drops this subscriber) | ended (drain). A reader reads from the store after
// released and overflowed, or ends.

import type { EngineError } from "@pawl/core/fault/engine-error";
import type { LoggedEvent } from "./logged-event.ts";
import { Waker } from "./waker.ts";

export interface BufferLimits {
  readonly events: number;
  readonly bytes: number;
}

/** A receiver of the events of a tail. */
export interface Listener {
  /** Whether the listener wants the terminal event and no other. */
  readonly isEndOnly: boolean;
  /** Takes events that the tail read. False if the tail must drop this listener. */
  push(events: readonly LoggedEvent[], bytes: number): boolean;
  /** Ends the listener, for example when the gateway drains. */
  finish(reason: EngineError): void;
}

type Waited = "events" | "released" | "overflowed" | "ended" | "timeout" | "aborted";

export class Subscriber implements Listener {
  readonly isEndOnly: boolean;
  readonly #limits: BufferLimits;
  #buffer: LoggedEvent[] = [];
  /** What the tail pushed since the reader took events last. */
  #count = 0;
  #bytes = 0;
  #isReleased = false;
  /** The time of the overflow, by `performance.now()`. */
  overflowedAt: number | undefined;
  /** The reason given to `finish`. */
  end: EngineError | undefined;
  readonly #waker = new Waker();

  constructor(limits: BufferLimits, isEndOnly = false) {
    this.#limits = limits;
    this.isEndOnly = isEndOnly;
  }

  /**
   * Adds events that the tail read. False if they do not fit behind the unread ones: the buffer is emptied, and the tail must drop this
   * subscriber. A push into an empty buffer always fits, because one read of the tail is bounded.
   */
  push(events: readonly LoggedEvent[], bytes: number): boolean {
    const isFull =
      this.#count > 0 &&
      (this.#count + events.length > this.#limits.events ||
        this.#bytes + bytes > this.#limits.bytes);
    if (isFull) {
      this.#buffer = [];
      this.overflowedAt = performance.now();
    } else {
      if (!this.#isReleased) this.#buffer.push(...events);
      this.#count += events.length;
      this.#bytes += bytes;
    }
    this.#waker.wake();
    return !isFull;
  }

  /** Ends the subscription. The reader still gets the buffered events first. */
  finish(reason: EngineError): void {
    this.end ??= reason;
    this.#waker.wake();
  }

  /** Takes all buffered events. */
  take(): LoggedEvent[] {
    const taken = this.#buffer;
    this.#buffer = [];
    this.#count = 0;
    this.#bytes = 0;
    return taken;
  }

  /** Lets go of the buffered events. The reader must read them from the store. */
  release(): void {
    this.#buffer = [];
    this.#isReleased = true;
  }

  /** Waits until the buffer has events or the subscription ends. */
  async wait(timeoutMs: number, signal: AbortSignal): Promise<Waited> {
    const now = this.#state(signal);
    if (now !== undefined) return now;
    await this.#waker.sleep(timeoutMs, signal);
    return this.#state(signal) ?? "timeout";
  }

  #state(signal: AbortSignal): Waited | undefined {
    if (signal.aborted) return "aborted";
    if (this.overflowedAt !== undefined) return "overflowed";
    if (this.#isReleased) return "released";
    if (this.#buffer.length > 0) return "events";
    return this.end === undefined ? undefined : "ended";
  }
}
