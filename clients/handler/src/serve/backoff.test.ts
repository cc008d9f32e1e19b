import { expect, test } from "vitest";
import { Backoff } from "./backoff.ts";

test("waits grow from 0.1 s to 5 s and stay there, and begin again after an open stream", () => {
  const backoff = new Backoff();
  const longest = Array.from({ length: 9 }, () => backoff.next(1));
  expect(longest).toEqual([100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000, 5_000]);
  backoff.reset();
  expect(backoff.next(1)).toBe(100);
});

test("the jitter is full: a wait may be nothing, and is never longer than its bound", () => {
  const backoff = new Backoff();
  expect([backoff.next(0), backoff.next(0.5), backoff.next(0.25)]).toEqual([0, 100, 100]);
});
