// Waiting between tries: full-range jitter over a doubling ceiling, so that a thousand peers of a restarted server do not return at once.

import { setTimeout as wait } from "node:timers/promises";

export interface BackoffOptions {
  /** Ceiling of the first wait. */
  readonly initialMs: number;
  /** Ceiling of every wait. */
  readonly maxMs: number;
  /** Uniform in [0, 1); default Math.random. */
  readonly random?: () => number;
}

export interface Backoff {
  /** How long to wait now: between half the ceiling and all of it; the ceiling doubles each time. */
  nextMs(): number;
  /** Starts over, after a success. */
  reset(): void;
}

export const createBackoff = (options: BackoffOptions): Backoff => {
  const random = options.random ?? Math.random;
  let ceilingMs = options.initialMs;
  return {
    nextMs: () => {
      const waitMs = ceilingMs * (0.5 + random() / 2);
      ceilingMs = Math.min(options.maxMs, ceilingMs * 2);
      return waitMs;
    },
    reset: () => {
      ceilingMs = options.initialMs;
    },
  };
};

/** Waits `ms`, or less when the signal aborts; never rejects. Does not keep the process alive by itself. */
export const pause = async (ms: number, signal: AbortSignal): Promise<void> => {
  await wait(ms, undefined, { signal, ref: false }).catch(() => undefined);
};
