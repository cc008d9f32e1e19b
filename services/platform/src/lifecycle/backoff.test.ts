import { expect, test } from "vitest";

import { createBackoff, pause } from "./backoff.ts";

test("waits double up to the ceiling, and start over after a success", () => {
  const backoff = createBackoff({ initialMs: 100, maxMs: 1_000, random: () => 1 });
  expect([1, 2, 3, 4, 5, 6].map(() => backoff.nextMs())).toEqual([
    100, 200, 400, 800, 1_000, 1_000,
  ]);
  backoff.reset();
  expect(backoff.nextMs()).toBe(100);
});

test("jitter takes off up to half", () => {
  const backoff = createBackoff({ initialMs: 100, maxMs: 100, random: () => 0 });
  expect(backoff.nextMs()).toBe(50);
});

test("an aborted pause ends at once and does not reject", async () => {
  await pause(60_000, AbortSignal.abort());
});
