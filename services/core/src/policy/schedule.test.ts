import { expect, test } from "vitest";
import { CATCH_UP_MAX, LATE_MS, type MissedPolicy, occurrencesToStart } from "./schedule.ts";

const NOW = 1_000_000_000;
const MINUTE = 60_000;
/** Occurrences so many minutes ago, oldest first. */
const ago = (...minutes: number[]): number[] => minutes.map((n) => NOW - n * MINUTE);

const started = (missed: MissedPolicy, times: readonly number[]): readonly number[] =>
  occurrencesToStart({ times, now: NOW, missed });

test("an occurrence on time starts under every policy; a minute late is still on time", () => {
  for (const missed of ["skip", "run_once", "run_all"] as const) {
    expect(started(missed, [NOW - LATE_MS])).toEqual([NOW - LATE_MS]);
    expect(started(missed, ago(0))).toEqual(ago(0));
    expect(started(missed, [])).toEqual([]);
  }
});

test("of missed occurrences none, the newest or all start, in order, and the one on time with them", () => {
  const times = ago(180, 120, 60, 0);
  expect(started("skip", times)).toEqual(ago(0));
  expect(started("run_once", times)).toEqual(ago(60, 0));
  expect(started("run_all", times)).toEqual(times);
  expect(started("skip", ago(180, 120))).toEqual([]);
  expect(started("run_once", ago(180, 120))).toEqual(ago(120));
});

test("no more missed occurrences are made up for than the bound, and those are the newest", () => {
  const times = Array.from({ length: CATCH_UP_MAX + 50 }, (_, n) => NOW - (1_000 - n) * MINUTE);
  expect(started("run_all", [...times, NOW])).toEqual([...times.slice(-CATCH_UP_MAX), NOW]);
});
