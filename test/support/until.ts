// Bounded waits for real processes: for a condition, and for an event. The one place in the tests that may use a timer.
import { setImmediate as immediately, setTimeout as delay } from "node:timers/promises";

const POLL_MS = 20;
const TIMEOUT_MS = 30_000;

/** How long to wait, and what for: the words of the failure. */
type UntilOptions = { readonly timeoutMs?: number; readonly what: string };

/**
 * Resolves with the condition's first truthy value. A condition that throws counts as not yet met; its
 * last error is the cause of the failure.
 */
export async function until<T>(
  condition: () => T | Promise<T>,
  { timeoutMs = TIMEOUT_MS, what }: UntilOptions,
): Promise<NonNullable<T>> {
  const deadline = Date.now() + timeoutMs;
  let cause: unknown;
  for (;;) {
    try {
      const value = await condition();
      if (value !== null && value !== undefined && value !== false) return value;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    if (Date.now() >= deadline) throw new Error(`waited ${timeoutMs} ms for ${what}`, { cause });
    await delay(POLL_MS);
  }
}

/** The value of a promise, or a failure that names what did not happen. */
export async function within<T>(
  promise: Promise<T>,
  { timeoutMs = TIMEOUT_MS, what }: UntilOptions,
): Promise<T> {
  const over = new AbortController();
  const late = delay(timeoutMs, undefined, { signal: over.signal }).then(() => {
    throw new Error(`waited ${timeoutMs} ms for ${what}`);
  });
  // The wait ends with the promise; its own abort is no failure.
  late.catch(() => undefined);
  try {
    return await Promise.race([promise, late]);
  } finally {
    over.abort();
  }
}

/** Lets the event loop turn so often: what waits for no time and no socket has happened by then. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await immediately();
}
