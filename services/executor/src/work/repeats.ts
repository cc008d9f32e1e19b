// Sends unacknowledged messages again while the stream is open. A scheduler that lost or rejected a message does not report that, and
// without a repeat the executor would hold the claim for ever. Each claim has its own wait: 2 to 4 s at first, then twice as long each
// time, up to a minute. So repeats do not burden a scheduler in trouble. An acknowledgement resets the wait. Messages that still wait to
// be sent are not queued twice. Repeats are harmless: the scheduler answers them as duplicates.

import { type Cancel, systemTimers, type Timers } from "@pawl/platform/lifecycle/timers";
import type { OutboxEntry } from "./outbox-entry.ts";

/** How often the claims are checked. */
const LOOK_MS = 1_000;
const FIRST_MS = 4_000;
const LONGEST_MS = 60_000;

export class Repeats {
  readonly #entries: () => Iterable<OutboxEntry>;
  readonly #repeat: (entry: OutboxEntry) => void;
  readonly #timers: Timers;
  #cancel: Cancel | undefined;
  #isStopped = false;

  /** `repeat` queues all unacknowledged messages of a claim again. */
  constructor(
    entries: () => Iterable<OutboxEntry>,
    repeat: (entry: OutboxEntry) => void,
    timers: Timers = systemTimers,
  ) {
    this.#entries = entries;
    this.#repeat = repeat;
    this.#timers = timers;
  }

  /** All messages of a claim have been sent. */
  sent(entry: OutboxEntry): void {
    const ceilingMs = Math.min(LONGEST_MS, FIRST_MS * 2 ** entry.repeats);
    entry.looksLeft = Math.ceil((ceilingMs * (0.5 + Math.random() / 2)) / LOOK_MS);
    this.#arm();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel?.();
  }

  #arm(): void {
    if (this.#isStopped) return;
    this.#cancel ??= this.#timers.after(LOOK_MS, () => this.#look());
  }

  #look(): void {
    this.#cancel = undefined;
    for (const entry of this.#entries()) {
      if (entry.queued > 0 || !entry.isUnacknowledged) continue;
      entry.looksLeft -= 1;
      if (entry.looksLeft > 0) this.#arm();
      else {
        entry.repeats += 1;
        this.#repeat(entry);
      }
    }
  }
}
