import { expect, test } from "vitest";
import { occurrencesAfter } from "./boss-occurrences.ts";
import { dueTimes } from "./boss-occurrences.ts";

const NOW = Date.parse("2026-06-15T12:00:00Z");
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const each = (expression: string, timeZone = "UTC") => ({ expression, timeZone });

test("due times are listed from the first to now, both included", () => {
  const times = dueTimes(each("0 * * * *"), { first: NOW - 3 * HOUR, now: NOW, max: 100 });
  expect(times).toEqual([NOW - 3 * HOUR, NOW - 2 * HOUR, NOW - HOUR, NOW]);
  expect(dueTimes(each("0 * * * *"), { first: NOW, now: NOW, max: 100 })).toEqual([NOW]);
});

test("weeks of a schedule that is due every second are not counted through", () => {
  for (const expression of ["* * * * * *", "FREQ=SECONDLY"]) {
    const times = dueTimes(each(expression), { first: NOW - 21 * DAY, now: NOW, max: 160 });
    expect(times).toEqual(Array.from({ length: 160 }, (_, n) => NOW - (159 - n) * 1_000));
  }
});

test("the newest of a rule that is dense only long ago is found", () => {
  const dense = each("FREQ=SECONDLY;BYMONTHDAY=1;BYHOUR=0");
  const first = Date.parse("2026-06-01T00:00:00Z");
  const times = dueTimes(dense, { first, now: NOW, max: 100 });
  expect(times.at(-1)).toBe(Date.parse("2026-06-01T00:59:59Z"));
  expect(times).toHaveLength(100);
});

test("a rule that has ended has no next time", () => {
  const rule = each("DTSTART:20260615T120000Z\nRRULE:FREQ=DAILY;COUNT=2");
  expect(occurrencesAfter(rule, NOW, 1)).toEqual([NOW + DAY]);
  expect(occurrencesAfter(rule, NOW + DAY, 1)).toEqual([]);
});
