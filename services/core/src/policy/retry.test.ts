import * as fc from "fast-check";
import { expect, test } from "vitest";
import { CAUSES, retryRuleOf } from "../fault/cause.ts";
import {
  backoffMs,
  DEFAULT_RETRY,
  mayRetry,
  retriedFor,
  retryDelayMs,
  STANDARD_RETRY,
} from "./retry.ts";

fc.configureGlobal({ seed: 1 });

test("the default policy is one attempt, 500 ms doubling to 8 s (S1.26, S1.27, S1.28)", () => {
  expect(DEFAULT_RETRY).toMatchObject({ attempts: 1, backoffMs: 500, maxBackoffMs: 8_000 });
  expect(mayRetry(DEFAULT_RETRY, 1, "timeout")).toBe(false);
});

test("the backoff doubles, is capped and is spread over its upper half (S1.30)", () => {
  expect([1, 2, 3, 4, 5, 6].map((attempt) => backoffMs(DEFAULT_RETRY, attempt, 1))).toEqual([
    500, 1_000, 2_000, 4_000, 8_000, 8_000,
  ]);
  expect(backoffMs(DEFAULT_RETRY, 1, 0)).toBe(250);
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 20 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (attempt, jitter) => {
        const full = Math.min(8_000, 500 * 2 ** (attempt - 1));
        const delay = backoffMs(DEFAULT_RETRY, attempt, jitter);
        expect(delay).toBeGreaterThanOrEqual(full / 2);
        expect(delay).toBeLessThanOrEqual(full);
      },
    ),
  );
});

test("the profile standard makes three attempts, 1 s, 2 s and 4 s apart, without jitter (S3.39, X10)", () => {
  expect(STANDARD_RETRY.attempts).toBe(3);
  expect([1, 2, 3].map((attempt) => backoffMs(STANDARD_RETRY, attempt, 0))).toEqual([
    1_000, 2_000, 4_000,
  ]);
});

test("retry_on names the causes, and a handler's own cause is a provider's (S1.29, S1.32)", () => {
  const policy = { ...STANDARD_RETRY, retryOn: ["timeout", "provider_error"] as const };
  expect(mayRetry(policy, 1, "timeout")).toBe(true);
  expect(mayRetry(policy, 1, "rate_limit")).toBe(false);
  expect(mayRetry(policy, 1, "js_error")).toBe(true);
  expect(mayRetry(policy, 1, "acme.card_declined")).toBe(true);
  expect(mayRetry({ ...policy, retryOn: ["timeout"] }, 1, "js_timeout")).toBe(true);
  expect(["js_error", "js_timeout", "acme.card_declined"].map(retriedFor)).toEqual([
    "js_error",
    "timeout",
    "acme.card_declined",
  ]);
  expect(mayRetry(policy, 3, "timeout")).toBe(false);
  expect(mayRetry(policy, 1, "cancelled")).toBe(false);
});

test("a retry waits its backoff or what the provider asked for, whichever is longer, up to an hour (S1.30)", () => {
  expect(retryDelayMs(STANDARD_RETRY, 1, 0)).toBe(1_000);
  expect(retryDelayMs(STANDARD_RETRY, 1, 0, 300)).toBe(1_000);
  expect(retryDelayMs(STANDARD_RETRY, 1, 0, 7_000)).toBe(7_000);
  expect(retryDelayMs(STANDARD_RETRY, 1, 0, 1e12)).toBe(3_600_000);
});

test("causes that a second try cannot change are never retried, whatever the policy says", () => {
  const policy = { ...STANDARD_RETRY, attempts: 20 };
  for (const cause of Object.keys(CAUSES))
    expect(mayRetry(policy, 1, cause), cause).toBe(retryRuleOf(cause) !== "never");
  for (const cause of ["CONFIG_INVALID", "result_too_large"])
    expect(mayRetry(policy, 1, cause), cause).toBe(false);
});
