// When a failed attempt is tried again and how long that waits. Chance comes in as a number, so the answer is a function.

import { LIMITS } from "../data/limits.ts";

export const RETRY_CAUSES = [
  "timeout",
  "provider_error",
  "rate_limit",
  "contract_violated",
] as const;
/** Causes a retry policy may name (S1.29). */
export type RetryCause = (typeof RETRY_CAUSES)[number];

/** Attempts in all and the backoff between them (S1.26-S1.30). */
export interface RetryPolicy {
  readonly attempts: number;
  readonly backoffMs: number;
  readonly maxBackoffMs: number;
  readonly retryOn: readonly RetryCause[];
  /** False waits the full backoff each time; absent or true spreads it over the upper half (S1.30). */
  readonly jitter?: boolean;
}

/** What a node has that names no policy: one attempt (S1.26-S1.29). */
export const DEFAULT_RETRY: RetryPolicy = {
  attempts: 1,
  backoffMs: 500,
  maxBackoffMs: 8_000,
  retryOn: RETRY_CAUSES,
};

/** The profile `standard`: three attempts, 1 s and 2 s apart, without jitter (X10, S3.39). */
export const STANDARD_RETRY: RetryPolicy = {
  attempts: 3,
  backoffMs: 1_000,
  maxBackoffMs: 8_000,
  retryOn: RETRY_CAUSES,
  jitter: false,
};

/**
 * The wait after `attempt` failed, in whole milliseconds: `min(max, base * 2^(attempt-1)) * (0.5 + jitter * 0.5)` (S1.30).
 * `jitter` is in [0, 1]; a policy without jitter waits the full time.
 */
export function backoffMs(policy: RetryPolicy, attempt: number, jitter: number): number {
  const full = Math.min(policy.maxBackoffMs, policy.backoffMs * 2 ** (attempt - 1));
  return Math.round(policy.jitter === false ? full : full * (0.5 + jitter * 0.5));
}

/** The backoff, or what the provider asked for if that is longer; a provider cannot hold a node for more than an hour. */
export const retryDelayMs = (
  policy: RetryPolicy,
  attempt: number,
  jitter: number,
  retryAfterMs = 0,
): number =>
  Math.max(backoffMs(policy, attempt, jitter), Math.min(retryAfterMs, LIMITS.retryAfterMsMax));

/** How a node fails whose output breaks its contract; a policy knows it as contract_violated (S1.19). */
export const OUTPUT_CONTRACT_VIOLATION = "output_contract_violation";

/** How a script fails that runs for too long. */
const JS_TIMEOUT = "JS_TIMEOUT";

const POLICY_WORDS: ReadonlyMap<string, RetryCause> = new Map([
  [OUTPUT_CONTRACT_VIOLATION, "contract_violated"],
  [JS_TIMEOUT, "timeout"],
]);

/** The cause a retry is logged with: the policy's word where the failure has one of its own for it. */
export const retriedFor = (cause: string): string => POLICY_WORDS.get(cause) ?? cause;

/** The cause a policy knows a failure by: a handler's own cause is a fault of the provider. */
export const retryCauseOf = (cause: string): RetryCause =>
  RETRY_CAUSES.find((known) => known === retriedFor(cause)) ?? "provider_error";

/**
 * Causes that a second try cannot change, or that must not have one: never retried, whatever the policy and the executor say. An
 * executor may call other failures permanent; it cannot make one of these retryable.
 */
export const NEVER_RETRIED: ReadonlySet<string> = new Set([
  "cancelled",
  "delivery_exhausted",
  "effect_unknown",
  "moderation_blocked",
  "input_contract_violation",
  "MISSING_VARIABLE",
  "CONFIG_INVALID",
  "UNKNOWN_NODE_TYPE",
  "UNKNOWN_PROVIDER",
  "UNKNOWN_DATA_SOURCE",
  "CONDITION_TYPE",
  "CONDITION_TOO_COSTLY",
  "TOO_MANY_ITEMS",
  "too_many_items",
  "too_deep",
  "max_iterations",
  "OUTPUT_TOO_LARGE",
  "OUTPUT_INVALID",
  "output_invalid",
  "RESULT_TOO_LARGE",
  "result_too_large",
  "context_too_large",
  "node_too_large",
  "REQUEST_TOO_LARGE",
  "RESPONSE_TOO_LARGE",
  "JS_KILLED",
  "URL_BLOCKED",
  "HEADER_INJECTION",
  "http_status",
  "query_error",
]);

/** Whether a failure of `attempt` for `cause` is tried again (S1.31, S1.32). */
export const mayRetry = (policy: RetryPolicy, attempt: number, cause: string): boolean =>
  !NEVER_RETRIED.has(cause) &&
  attempt < policy.attempts &&
  policy.retryOn.includes(retryCauseOf(cause));
