// Runs one duty on its interval and on request, and never twice at once. A duty that fails runs again at its next turn, because everything
// that a sweep finds can wait.

import { METRICS } from "@pawl/platform/telemetry/catalogue";
import type { Logger } from "@pawl/platform/telemetry/log";

/** Requests within this much time share a sweep. */
const STEP_MS = 20;

export class Sweeper {
  readonly #name: string;
  readonly #duty: () => Promise<boolean>;
  readonly #intervalMs: number;
  readonly #log: Logger;
  #timer: NodeJS.Timeout | undefined;
  /** The requested times. Something may be due at each of them, so an earlier sweep does not replace a later one. */
  readonly #asked = new Set<number>();
  #nextAt = Infinity;
  #running: Promise<void> | undefined;
  #stopped = false;

  /** `duty` returns whether more work waits. */
  constructor(options: {
    readonly name: string;
    readonly intervalMs: number;
    readonly duty: () => Promise<boolean>;
    readonly log: Logger;
  }) {
    this.#name = options.name;
    this.#duty = options.duty;
    this.#intervalMs = options.intervalMs;
    this.#log = options.log;
  }

  start(): void {
    this.soon(0);
  }

  /** Sweeps after this time, also if another sweep happens before. */
  soon(afterMs: number): void {
    this.#asked.add(Math.ceil((performance.now() + afterMs) / STEP_MS) * STEP_MS);
    this.#arm();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #arm(): void {
    clearTimeout(this.#timer);
    if (this.#stopped || this.#running !== undefined) return;
    const dueAt = Math.min(this.#nextAt, ...this.#asked);
    this.#timer = setTimeout(() => this.#sweep(), Math.max(0, dueAt - performance.now()));
  }

  #sweep(): void {
    const now = performance.now();
    for (const at of this.#asked) if (at <= now) this.#asked.delete(at);
    this.#running = this.#once().finally(() => {
      this.#running = undefined;
      this.#nextAt = performance.now() + this.#intervalMs;
      this.#arm();
    });
  }

  async #once(): Promise<void> {
    const began = performance.now();
    try {
      while ((await this.#duty()) && !this.#stopped);
    } catch (error) {
      this.#log.warn({ err: error, duty: this.#name }, "a sweep failed; it is tried again");
    }
    METRICS.sweepDuration.record((performance.now() - began) / 1_000, { duty: this.#name });
  }
}
