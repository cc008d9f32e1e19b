// Whether a failed attempt is retried, and after how long. The caller passes the random number, so the answer is a pure function.

import { LIMITS } from "../data/limits.ts";
import { RETRY_CAUSES, retryRuleOf, type RetryCause } from "../fault/cause.ts";

/** The number of attempts and the backoff between them. */
export interface RetryPolicy {
  readonly attempts: number;
  readonly backoffMs: number;
  readonly maxBackoffMs: number;
  readonly retryOn: readonly RetryCause[];
  /** False waits the full backoff each time. Absent or true spreads the wait over the upper half of the backoff. */
  readonly jitter?: boolean;
}

/** The policy of a node that names none: one attempt. */
export const DEFAULT_RETRY: RetryPolicy = {
  attempts: 1,
  backoffMs: 500,
  maxBackoffMs: 8_000,
  retryOn: RETRY_CAUSES,
};

/** The profile `standard`: three attempts, 1 s and 2 s apart, without jitter. */
export const STANDARD_RETRY: RetryPolicy = {
  attempts: 3,
  backoffMs: 1_000,
  maxBackoffMs: 8_000,
  retryOn: RETRY_CAUSES,
  jitter: false,
};

/**
 * The wait after `attempt` failed, in whole milliseconds: `min(max, base * 2^(attempt-1)) * (0.5 + jitter * 0.5)`. `jitter` is in [0, 1]. A
 * policy without jitter waits the full time.
 */
export function backoffMs(policy: RetryPolicy, attempt: number, jitter: number): number {
  const full = Math.min(policy.maxBackoffMs, policy.backoffMs * 2 ** (attempt - 1));
  return Math.round(policy.jitter === false ? full : full * (0.5 + jitter * 0.5));
}

/** The backoff, or the wait that the provider asked for if that is longer. A provider cannot delay a node by more than an hour. */
export const retryDelayMs = (
  policy: RetryPolicy,
  attempt: number,
  jitter: number,
  retryAfterMs = 0,
): number =>
  Math.max(backoffMs(policy, attempt, jitter), Math.min(retryAfterMs, LIMITS.retryAfterMsMax));

/**
 * The cause that the log gives for a retry. It is the policy's cause if that is precise enough (`js_timeout` becomes `timeout`). Otherwise
 * it is the failure's own cause, because `provider_error` would be less precise.
 */
export function retriedFor(cause: string): string {
  const rule = retryRuleOf(cause);
  return rule === "never" || rule === "provider_error" ? cause : rule;
}

/** Whether the scheduler makes another attempt after `attempt` failed with `cause`. */
export function mayRetry(policy: RetryPolicy, attempt: number, cause: string): boolean {
  const rule = retryRuleOf(cause);
  return rule !== "never" && attempt < policy.attempts && policy.retryOn.includes(rule);
}
