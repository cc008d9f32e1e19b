// What every method of the client does alike: retries what is safe to retry, and fails with a PawlError.

import type { CallOptions } from "@connectrpc/connect";
import type { Clock } from "./backoff.ts";
import { PawlError } from "./errors.ts";
import { freshRequestId } from "./request-id.ts";
import { withRetry } from "./retry.ts";

export interface CallerOptions {
  readonly clock: Clock;
  readonly attempts: number;
  /** Deadline of each attempt of a unary call. */
  readonly timeoutMs: number;
}

/** Options of every call. */
export interface PawlCallOptions {
  readonly signal?: AbortSignal | undefined;
}

/** Options of every mutation. */
export interface MutationOptions extends PawlCallOptions {
  /** Makes a repeat harmless; a fresh UUID by default, kept across this client's own retries. */
  readonly requestId?: string | undefined;
}

export type Caller = <T>(
  options: PawlCallOptions | undefined,
  call: (options: CallOptions) => Promise<T>,
) => Promise<T>;

export const createCaller =
  ({ clock, attempts, timeoutMs }: CallerOptions): Caller =>
  (options, call) => {
    const signal = options?.signal;
    const callOptions = { timeoutMs, ...(signal === undefined ? {} : { signal }) };
    return withRetry(() => call(callOptions), { clock, attempts, signal });
  };

/** The caller's request id, or a fresh one. */
export const requestIdOf = (options: MutationOptions | undefined): string =>
  options?.requestId ?? freshRequestId();

/** The server always fills these in; an answer without is not one of ours. */
export function present<T>(message: T | undefined): T {
  if (message === undefined) throw new PawlError("UNRECOGNISED", "the answer lacks its subject");
  return message;
}
