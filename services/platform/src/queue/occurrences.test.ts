import { expect, onTestFinished, test } from "vitest";
import { until } from "../../../../test/support/until.ts";
import { occurrencesAfter } from "./boss-occurrences.ts";
import { OccurrenceThread, TooCostly } from "./occurrences.ts";

const NOW = Date.parse("2026-06-15T12:00:00Z");
const each = (expression: string, timeZone = "Europe/Berlin") => ({ expression, timeZone });
const list = (from: number, to: number): string =>
  Array.from({ length: to - from + 1 }, (_, n) => from + n).join(",");
/** Every second of a year as a set of numbers: pg-boss takes tens of seconds for its first occurrence. */
const COSTLY = each(
  `FREQ=YEARLY;BYMONTH=${list(1, 12)};BYMONTHDAY=${list(1, 31)};BYHOUR=${list(0, 23)};BYMINUTE=${list(0, 59)};BYSECOND=${list(0, 59)}`,
);
const DAILY = each("0 3 * * *");

function setup(): OccurrenceThread {
  const thread = new OccurrenceThread();
  onTestFinished(() => thread.stop());
  return thread;
}

/** How often this event loop turned during a wait. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  work.finally(() => (isOver = true)).catch(() => {});
  await until(() => ((turns += 1), isOver), { what: "the work to end" });
  return turns;
}

test("the thread gives the same answers as a computation in place", async () => {
  const thread = setup();
  expect(await thread.after(DAILY, NOW, 5)).toEqual(occurrencesAfter(DAILY, NOW, 5));
  expect(await thread.next(DAILY, NOW)).toBe(occurrencesAfter(DAILY, NOW, 1)[0]);
  expect(await thread.next(each("FREQ=DAILY;UNTIL=20200101T000000Z"), NOW)).toBeNull();
  expect(await thread.due(DAILY, { first: NOW, now: NOW, max: 9 })).toEqual([NOW]);
  expect(await thread.fault(DAILY, NOW)).toBeUndefined();
  expect(await thread.fault(each("nope"), NOW)).toMatchObject({ reason: "BAD_EXPRESSION" });
  await expect(thread.after(each("nope"), NOW, 1)).rejects.toThrow();
});

test("a rule that takes tens of seconds is refused after one second, and the event loop keeps turning", async () => {
  const thread = setup();
  await thread.fault(DAILY, NOW);
  const fault = thread.fault(COSTLY, NOW);
  const behind = thread.next(DAILY, NOW);
  // Ten ticks of a tenth of a second were counted by the same event loop.
  expect(await turnsDuring(fault)).toBeGreaterThanOrEqual(10);
  expect(await fault).toMatchObject({ field: "expression", reason: "TOO_COSTLY" });
  expect(await behind).toBe(occurrencesAfter(DAILY, NOW, 1)[0]);
  // The next question about the rule is refused at once, whatever its kind.
  await expect(thread.after(COSTLY, NOW, 1)).rejects.toThrow(TooCostly);
  await expect(thread.due(COSTLY, { first: NOW, now: NOW, max: 1 })).rejects.toThrow(TooCostly);
});

test("more questions than can wait are refused, firings are not", async () => {
  const thread = setup();
  const asked = Array.from({ length: 150 }, () => thread.after(DAILY, NOW, 1));
  const firing = thread.next(DAILY, NOW);
  const settled = await Promise.allSettled(asked);
  const refused = settled.filter((one) => one.status === "rejected");
  expect(refused.length).toBeGreaterThan(0);
  expect(refused.length).toBeLessThan(60);
  expect(refused[0]?.reason).toMatchObject({ reason: "OVERLOADED", retryable: true });
  expect(await firing).toBe(occurrencesAfter(DAILY, NOW, 1)[0]);
});

test("a stop refuses present and later questions", async () => {
  const thread = setup();
  const asked = thread.after(DAILY, NOW, 1);
  await Promise.all([expect(asked).rejects.toThrow("stopping"), thread.stop()]);
  await expect(thread.after(DAILY, NOW, 1)).rejects.toThrow("stopping");
});
