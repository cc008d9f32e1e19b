// Waiting: the delay before another try, exponential and bounded, and signals that end the wait. With the jitter, a thousand clients that
// lost their connection at once do not return at once.

/** The time and the source of random numbers. Tests pass their own. */
export interface Clock {
  now(): number;
  random(): number;
  /** Resolves after `ms`, or at once when `signal` aborts. Never rejects. */
  pause(ms: number, signal: AbortSignal | undefined): Promise<void>;
}

const BASE_MS = 200;
const MAX_MS = 10_000;

/** Delay before the given retry, counted from 1. It is at least half of the exponential step. */
export function backoffMs(retry: number, random: number): number {
  return Math.round(stepMs(retry) * (0.5 + random * 0.5));
}

const stepMs = (retry: number): number => Math.min(MAX_MS, BASE_MS * 2 ** Math.min(retry - 1, 16));

/** Delay before the given retry, counted from 1: from zero to the exponential step. It spreads callers best. */
export const fullJitterMs = (retry: number, random: number): number =>
  Math.round(stepMs(retry) * random);

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

/**
 * Aborts `own` as soon as `signal` aborts. The listener is removed when `own` has aborted, so a long-lived signal keeps none. Node 18 and
 * older browsers have no AbortSignal.any.
 */
export function followSignal(own: AbortController, signal: AbortSignal | undefined): void {
  if (signal === undefined) return;
  if (signal.aborted) {
    own.abort(signal.reason);
    return;
  }
  const abort = (): void => own.abort(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  own.signal.addEventListener("abort", () => signal.removeEventListener("abort", abort), {
    once: true,
  });
}
