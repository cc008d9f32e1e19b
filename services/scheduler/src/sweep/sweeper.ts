// Runs one duty on its interval and whenever somebody knows of work for it; never twice at once. A duty that fails is tried
// again at its next turn: a sweep decides nothing that cannot wait.

import { METRICS } from "@pawl/platform/telemetry/catalogue";
import type { Logger } from "@pawl/platform/telemetry/log";

export class Sweeper {
  readonly #name: string;
  readonly #duty: () => Promise<boolean>;
  readonly #intervalMs: number;
  readonly #log: Logger;
  #timer: NodeJS.Timeout | undefined;
  #dueAt = Infinity;
  #running: Promise<void> | undefined;
  #stopped = false;

  /** `duty` answers whether there is more to do at once. */
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

  /** Sweeps after at most this long. */
  soon(afterMs: number): void {
    const dueAt = performance.now() + afterMs;
    if (this.#stopped || dueAt >= this.#dueAt) return;
    clearTimeout(this.#timer);
    this.#dueAt = dueAt;
    this.#timer = setTimeout(() => this.#sweep(), afterMs);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #sweep(): void {
    this.#dueAt = Infinity;
    if (this.#running !== undefined) {
      this.soon(this.#intervalMs / 10);
      return;
    }
    this.#running = this.#once().finally(() => {
      this.#running = undefined;
      this.soon(this.#intervalMs);
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
