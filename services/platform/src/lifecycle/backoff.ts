// Waits between tries: a ceiling that doubles, with jitter. So a thousand peers of a restarted server do not all return at once.

import { setTimeout as wait } from "node:timers/promises";

interface BackoffOptions {
  /** Ceiling of the first wait. */
  readonly initialMs: number;
  /** Ceiling of every wait. */
  readonly maxMs: number;
  /** Uniform in [0, 1); default Math.random. */
  readonly random?: () => number;
}

export const createBackoff = ({ initialMs, maxMs, random = Math.random }: BackoffOptions) => {
  let ceilingMs = initialMs;
  return {
    /** The next wait: between half the ceiling and the ceiling, which then doubles. */
    nextMs: (): number => {
      const waitMs = ceilingMs * (0.5 + random() / 2);
      ceilingMs = Math.min(maxMs, ceilingMs * 2);
      return waitMs;
    },
    /** Starts over, after a success. */
    reset: (): void => void (ceilingMs = initialMs),
  };
};

/** Waits `ms`, or less if the signal aborts. It never rejects and does not keep the process alive. */
export const pause = async (ms: number, signal: AbortSignal): Promise<void> => {
  await wait(ms, undefined, { signal, ref: false }).catch(() => undefined);
};
