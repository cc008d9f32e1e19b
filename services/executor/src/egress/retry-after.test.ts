import { LIMITS } from "@pawl/core/data/limits";
import { expect, test } from "vitest";
import { retryAfterMs } from "./retry-after.ts";

const NOW = Date.UTC(1994, 10, 6, 8, 49, 30);

test.each([
  ["seconds", { "retry-after": "7" }, 7_000],
  ["fractions of a second", { "retry-after": " 0.25 " }, 250],
  ["milliseconds, which win", { "retry-after": "1", "retry-after-ms": "1500" }, 1_500],
  ["a date", { "retry-after": "Sun, 06 Nov 1994 08:49:37 GMT" }, 7_000],
  ["a date in the older form", { "retry-after": "Sunday, 06-Nov-94 08:49:37 GMT" }, 7_000],
  ["a date in the C library's form", { "retry-after": "Sun Nov  6 08:49:37 1994" }, 7_000],
  [
    "a date by a server whose clock is off",
    { "retry-after": "Sun, 06 Nov 1994 09:00:05 GMT", date: "Sun, 06 Nov 1994 09:00:00 GMT" },
    5_000,
  ],
  ["more than anyone waits", { "retry-after": "999999999" }, LIMITS.retryAfterMsMax],
])("Retry-After with %s is understood (S1.29)", (_name, headers, ms) => {
  expect(retryAfterMs(headers, NOW)).toBe(ms);
});

test.each([
  ["absent", {}],
  ["zero", { "retry-after": "0" }],
  ["negative", { "retry-after": "-5" }],
  ["past", { "retry-after": "Sun, 06 Nov 1994 08:49:00 GMT" }],
  ["a word", { "retry-after": "soon" }],
  ["half a date", { "retry-after": "Sun, 99 Nov" }],
  ["a year", { "retry-after": "2030-01-01" }],
  ["endless", { "retry-after": "9".repeat(400) }],
] as const)("Retry-After that is %s asks for nothing", (_name, headers: Record<string, string>) => {
  expect(retryAfterMs(headers, NOW)).toBeUndefined();
});
