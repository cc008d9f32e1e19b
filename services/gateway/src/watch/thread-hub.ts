// The hub between notifications about threads and the streams that wait for the next run of one. All streams that wait at the same place of
// a thread share one read, and the reads of many threads share a statement.
//
// Race: a run takes a thread while a stream reads its next runs, or just before the stream waits. The stream forgets old wake-ups before it
// reads, and a read begins after it is asked for. So either the read finds the run, or its notification wakes the stream. The poll of the
// fanout wakes all streams, so a lost notification costs latency only.

import type { EngineError } from "@pawl/core/fault/engine-error";
import type { ThreadKey, ThreadNews, ThreadPlace } from "@pawl/platform/store/threads/threads";
import { coalesce } from "./coalesce.ts";
import { Waker } from "./waker.ts";

/** Reads the next turns after places, in one statement. Undefined for a thread that does not exist. */
type ReadTurns = (places: readonly ThreadPlace[]) => Promise<readonly (ThreadNews | undefined)[]>;

const PLACES_PER_READ = 500;

export class ThreadHub {
  readonly #seats = new Map<string, Set<ThreadSeat>>();
  /** How a thread is now, and its next turns after a place. Undefined if there is no such thread. @throws STORE_UNAVAILABLE */
  readonly next: (place: ThreadPlace) => Promise<ThreadNews | undefined>;

  constructor(readTurns: ReadTurns) {
    this.next = coalesce({
      load: readTurns,
      maxKeys: PLACES_PER_READ,
      nameOf: ({ tenantId, threadId, turn, position }) =>
        `${tenantId}\n${threadId}\n${turn}\n${position}`,
    });
  }

  /** Joins the streams that notifications about this thread wake. */
  join({ threadId }: ThreadKey): { readonly seat: ThreadSeat; readonly leave: () => void } {
    const seat = new ThreadSeat();
    const seats = this.#seats.get(threadId) ?? new Set();
    this.#seats.set(threadId, seats.add(seat));
    const leave = (): void => {
      seats.delete(seat);
      if (seats.size === 0 && this.#seats.get(threadId) === seats) this.#seats.delete(threadId);
    };
    return { seat, leave };
  }

  /** A thread of this id has changed. Notifications do not name the tenant. */
  notify(threadId: string): void {
    for (const seat of this.#seats.get(threadId) ?? []) seat.wake();
  }

  /** Any thread may have changed. */
  pollAll(): void {
    for (const threadId of this.#seats.keys()) this.notify(threadId);
  }
}

/** The place of one stream at a thread. */
export class ThreadSeat {
  readonly #waker = new Waker();
  #isWoken = false;
  /** Why the gateway ended the stream. */
  end: EngineError | undefined;

  wake(): void {
    this.#isWoken = true;
    this.#waker.wake();
  }

  finish(reason: EngineError): void {
    this.end ??= reason;
    this.#waker.wake();
  }

  /** Forgets the wake-ups so far. */
  forget(): void {
    this.#isWoken = false;
  }

  /** Waits for a wake-up or the end. */
  async wait(
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<"woken" | "ended" | "aborted" | "timeout"> {
    const now = this.#state(signal);
    if (now !== undefined) return now;
    await this.#waker.sleep(timeoutMs, signal);
    return this.#state(signal) ?? "timeout";
  }

  #state(signal: AbortSignal): "woken" | "ended" | "aborted" | undefined {
    if (signal.aborted) return "aborted";
    if (this.end !== undefined) return "ended";
    return this.#isWoken ? "woken" : undefined;
  }
}
