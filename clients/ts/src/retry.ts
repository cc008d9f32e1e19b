// Repeats a unary call that may succeed later. Safe for mutations too, since each of them carries a request_id by which the
// server knows a repeat: the race it survives is an answer lost after the server committed.

import { type Clock, backoffMs } from "./backoff.ts";
import { type PawlError, pawlErrorFrom } from "./errors.ts";

export interface RetryOptions {
  readonly clock: Clock;
  /** Attempts in all, from 1. */
  readonly attempts: number;
  readonly signal?: AbortSignal | undefined;
}

/** Calls until it succeeds, fails for good, runs out of attempts or is aborted. @throws PawlError */
export async function withRetry<T>(call: () => Promise<T>, options: RetryOptions): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    let error: PawlError;
    try {
      return await call();
    } catch (thrown) {
      error = pawlErrorFrom(thrown);
    }
    if (!error.retryable || attempt >= options.attempts) throw error;
    const delayMs = backoffMs(attempt, options.clock.random());
    await options.clock.pause(Math.max(delayMs, error.retryAfterMs ?? 0), options.signal);
    if (options.signal?.aborted === true) throw error;
  }
}
