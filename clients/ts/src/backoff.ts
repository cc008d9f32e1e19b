// How long to wait before trying again: exponential, bounded, with full jitter so that a thousand clients cut off at once do
// not come back at once.

/** Time and chance, passed in so that tests own them. */
export interface Clock {
  now(): number;
  random(): number;
  /** Resolves after `ms`, or at once when `signal` aborts. Never rejects. */
  pause(ms: number, signal: AbortSignal | undefined): Promise<void>;
}

const BASE_MS = 200;
const MAX_MS = 10_000;

/** Delay before the given retry, counted from 1; at least half of the exponential step, so that it never spins. */
export function backoffMs(retry: number, random: number): number {
  const step = Math.min(MAX_MS, BASE_MS * 2 ** Math.min(retry - 1, 16));
  return Math.round(step * (0.5 + random * 0.5));
}

/** The clock of the machine. */
export const SYSTEM_CLOCK: Clock = {
  now: () => Date.now(),
  random: () => Math.random(),
  pause: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted === true) {
        resolve();
        return;
      }
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal?.addEventListener("abort", done, { once: true });
    }),
};
