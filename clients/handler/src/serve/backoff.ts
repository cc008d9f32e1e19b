// How long a process waits before it connects again: up to 0.1 s, then up to twice as long, up to 5 s. Full jitter spreads the processes of
// a host that died.

const FIRST_MS = 100;
const MAX_MS = 5_000;

export class Backoff {
  #ceilingMs = FIRST_MS;

  /** The next wait; `random` is from 0 to 1. */
  next(random: number): number {
    const waitMs = random * this.#ceilingMs;
    this.#ceilingMs = Math.min(MAX_MS, this.#ceilingMs * 2);
    return waitMs;
  }

  /** A stream was open: the next wait is short again. */
  reset(): void {
    this.#ceilingMs = FIRST_MS;
  }
}
