import { expect, test } from "vitest";
import { formatAge, formatClock, formatDuration } from "./time.ts";

test("durations read in the two largest units", () => {
  const cases = [
    [0, "0 ms"],
    [999, "999 ms"],
    [3240, "3.2 s"],
    [59_990, "59.9 s"],
    [252_000, "4 m 12 s"],
    [7_500_000, "2 h 5 m"],
    [90_000_000, "1 d 1 h"],
    [-5, "0 ms"],
  ] as const;
  for (const [ms, text] of cases) expect(formatDuration(ms)).toBe(text);
});

test("ages are coarse", () => {
  expect([0, 7000, 200_000, 7_300_000, 200_000_000].map(formatAge)).toEqual([
    "just now",
    "7 s ago",
    "3 m ago",
    "2 h ago",
    "2 d ago",
  ]);
});

test("times of events show their milliseconds", () => {
  expect(formatClock(Date.UTC(2026, 0, 1, 10, 20, 30, 7))).toContain("20:30.007");
});
