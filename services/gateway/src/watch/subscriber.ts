// One live reader of a run: a bounded buffer between the tail, which never waits, and a connection, which may.
//
// States: open → overflowed (the tail pushed more than the buffer holds; it is emptied and detached) | ended (drain). Both are
// final for this subscriber; its reader decides whether to read on from the store or to give up.

import type { EngineError } from "@pawl/core/fault/engine-error";
import type { LoggedEvent } from "./logged-event.ts";

export interface BufferLimits {
  readonly events: number;
  readonly bytes: number;
}

export type Waited = "events" | "overflowed" | "ended" | "timeout" | "aborted";

export class Subscriber {
  /** Waits for the terminal event and wants no other. */
  readonly isEndOnly: boolean;
  readonly #limits: BufferLimits;
  #buffer: LoggedEvent[] = [];
  #bytes = 0;
  #overflowedAt: number | undefined;
  #end: EngineError | undefined;
  #wake: (() => void) | undefined;

  constructor(limits: BufferLimits, isEndOnly = false) {
    this.#limits = limits;
    this.isEndOnly = isEndOnly;
  }

  /** When the buffer ran over, by `performance.now()`; undefined while it has not. */
  get overflowedAt(): number | undefined {
    return this.#overflowedAt;
  }

  /** Why it was ended from outside; undefined while it was not. */
  get end(): EngineError | undefined {
    return this.#end;
  }

  /**
   * Takes what the tail read. False when that does not fit behind what the reader has not taken yet: the buffer is dropped and
   * the tail must forget this subscriber. A push into an empty buffer always fits, since one read of the tail is bounded.
   */
  push(events: readonly LoggedEvent[], bytes: number): boolean {
    const isFull =
      this.#buffer.length > 0 &&
      (this.#buffer.length + events.length > this.#limits.events ||
        this.#bytes + bytes > this.#limits.bytes);
    if (isFull) {
      this.#buffer = [];
      this.#bytes = 0;
      this.#overflowedAt = performance.now();
    } else {
      this.#buffer.push(...events);
      this.#bytes += bytes;
    }
    this.#notify();
    return !isFull;
  }

  /** Ends the subscription from outside; what is buffered is still handed out first. */
  finish(reason: EngineError): void {
    this.#end ??= reason;
    this.#notify();
  }

  /** All that is buffered. */
  take(): LoggedEvent[] {
    const taken = this.#buffer;
    this.#buffer = [];
    this.#bytes = 0;
    return taken;
  }

  /** Waits until there is something to do. */
  async wait(timeoutMs: number, signal: AbortSignal): Promise<Waited> {
    const now = this.#state(signal);
    if (now !== undefined) return now;
    let timer: NodeJS.Timeout | undefined;
    const onAbort = (): void => this.#notify();
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      timer = setTimeout(resolve, timeoutMs);
      signal.addEventListener("abort", onAbort, { once: true });
    });
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
    this.#wake = undefined;
    return this.#state(signal) ?? "timeout";
  }

  #state(signal: AbortSignal): Waited | undefined {
    if (signal.aborted) return "aborted";
    if (this.#overflowedAt !== undefined) return "overflowed";
    if (this.#buffer.length > 0) return "events";
    return this.#end === undefined ? undefined : "ended";
  }

  #notify(): void {
    this.#wake?.();
  }
}
