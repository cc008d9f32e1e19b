import { expect, test } from "vitest";
import { occurrencesAfter, recurrenceFault } from "./boss-occurrences.ts";

const BERLIN = "Europe/Berlin";

/** The first occurrences after a time, in ISO without milliseconds. */
function times(
  expression: string,
  { from, count = 3, timeZone = "UTC" }: { from: string; count?: number; timeZone?: string },
): string[] {
  const found = occurrencesAfter({ expression, timeZone }, Date.parse(from), count);
  return found.map((at) => new Date(at).toISOString().replace(".000Z", "Z"));
}

const faultOf = (expression: string, timeZone = "UTC"): string | undefined => {
  const fault = recurrenceFault({ expression, timeZone }, Date.parse("2026-01-01T00:00:00Z"));
  return fault && `${fault.field} ${fault.reason}`;
};

test("a cron time that the clocks skip in spring is due one hour later, once", () => {
  expect(times("30 2 * * *", { from: "2026-03-28T12:00:00Z", timeZone: BERLIN })).toEqual([
    "2026-03-29T01:30:00Z",
    "2026-03-30T00:30:00Z",
    "2026-03-31T00:30:00Z",
  ]);
});

test("a cron time that the clocks repeat in autumn is due once, at the first of the two", () => {
  expect(times("30 2 * * *", { from: "2026-10-24T12:00:00Z", timeZone: BERLIN })).toEqual([
    "2026-10-25T00:30:00Z",
    "2026-10-26T01:30:00Z",
    "2026-10-27T01:30:00Z",
  ]);
});

test("an interval of cron stays even through the repeated hour", () => {
  const quarters = times("*/15 * * * *", {
    from: "2026-10-24T23:59:00Z",
    count: 12,
    timeZone: BERLIN,
  }).map((time) => Date.parse(time));
  expect(new Set(quarters.slice(1).map((at, n) => at - (quarters[n] ?? 0)))).toEqual(
    new Set([15 * 60_000]),
  );
});

test("a rule at a time that the clocks skip leaves that day out, and is due once on the day of the repeated hour", () => {
  const rule = "FREQ=DAILY;BYHOUR=2;BYMINUTE=30;BYSECOND=0";
  expect(times(rule, { from: "2026-03-27T12:00:00Z", timeZone: BERLIN })).toEqual([
    "2026-03-28T01:30:00Z",
    "2026-03-30T00:30:00Z",
    "2026-03-31T00:30:00Z",
  ]);
  expect(times(rule, { from: "2026-10-24T12:00:00Z", timeZone: BERLIN, count: 2 })).toEqual([
    "2026-10-25T00:30:00Z",
    "2026-10-26T01:30:00Z",
  ]);
});

test("month ends and leap days are due when the calendar has them", () => {
  const from = "2026-01-15T00:00:00Z";
  expect(times("0 0 31 * *", { from })).toEqual([
    "2026-01-31T00:00:00Z",
    "2026-03-31T00:00:00Z",
    "2026-05-31T00:00:00Z",
  ]);
  expect(times("0 0 L * *", { from })).toEqual([
    "2026-01-31T00:00:00Z",
    "2026-02-28T00:00:00Z",
    "2026-03-31T00:00:00Z",
  ]);
  expect(times("FREQ=MONTHLY;BYMONTHDAY=-1;BYHOUR=0", { from, count: 2 })).toEqual([
    "2026-01-31T00:00:00Z",
    "2026-02-28T00:00:00Z",
  ]);
  expect(times("0 0 29 2 *", { from, count: 2 })).toEqual([
    "2028-02-29T00:00:00Z",
    "2032-02-29T00:00:00Z",
  ]);
});

test("a rule ends with its COUNT or its UNTIL, and leaves its exceptions out", () => {
  const from = "2026-03-31T00:00:00Z";
  const start = "DTSTART:20260401T090000\nRRULE:FREQ=DAILY";
  expect(times(`${start};COUNT=3`, { from, count: 9, timeZone: BERLIN })).toEqual([
    "2026-04-01T07:00:00Z",
    "2026-04-02T07:00:00Z",
    "2026-04-03T07:00:00Z",
  ]);
  expect(times(`${start};UNTIL=20260402T090000Z`, { from, count: 9 })).toHaveLength(2);
  expect(times(`${start};COUNT=3\nEXDATE:20260402T090000`, { from, count: 9 })).toEqual([
    "2026-04-01T09:00:00Z",
    "2026-04-03T09:00:00Z",
  ]);
});

test("expressions of five or six fields, macros and rules are accepted", () => {
  for (const good of [
    "*/5 * * * *",
    "0 9 * * MON-FRI",
    "*/10 * * * * *",
    "@daily",
    "FREQ=WEEKLY;BYDAY=MO;BYHOUR=9",
    "RRULE:FREQ=HOURLY",
  ])
    expect([good, faultOf(good)]).toEqual([good, undefined]);
});

test("an expression that is unreadable, never due or different in every process is refused by its field", () => {
  for (const bad of [
    "nope",
    "* * * *",
    "* * * * * * *",
    "61 * * * *",
    "H * * * *",
    "0 H(1-3) * * *",
    "@reboot",
    "FREQ=DAILY;COUNT=3",
    "FREQ=DAILY;BYHOURS=9",
    "BEGIN:VEVENT",
    "FREQ=",
    "0 0 30 2 *",
  ])
    expect([bad, faultOf(bad)]).toEqual([bad, "expression BAD_EXPRESSION"]);
  for (const spent of [
    "DTSTART:20250101T000000\nRRULE:FREQ=DAILY;COUNT=3",
    "FREQ=DAILY;UNTIL=20250101T000000Z",
    "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=31",
  ])
    expect([spent, faultOf(spent)]).toEqual([spent, "expression NO_OCCURRENCE"]);
  for (const zone of ["Mars/Olympus", "+02:00", "", "Europe/Berlin\n", "../etc"])
    expect([zone, faultOf("* * * * *", zone)]).toEqual([zone, "time_zone BAD_TIME_ZONE"]);
});

test("rules whose next time is further than a century, or that no date matches, have no occurrence", () => {
  for (const absurd of [
    "FREQ=SECONDLY;INTERVAL=999999999999",
    "FREQ=YEARLY;INTERVAL=1000",
    "DTSTART:99980101T000000Z\nRRULE:FREQ=DAILY",
    "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
    "0 0 31 2,4,6,9,11 *",
  ])
    expect([absurd, faultOf(absurd)]).toEqual([absurd, "expression NO_OCCURRENCE"]);
  for (const unreadable of [
    "FREQ=DAILY;INTERVAL=999999999999",
    "FREQ=YEARLY;INTERVAL=999999999999",
  ])
    expect([unreadable, faultOf(unreadable)]).toEqual([unreadable, "expression BAD_EXPRESSION"]);
});

test("a rule that is due once in a generation is accepted, and its later times end within a century", () => {
  const rule = "DTSTART:20260101T000000Z\nRRULE:FREQ=YEARLY;INTERVAL=30";
  const from = "2026-06-01T00:00:00Z";
  expect(times(rule, { from, count: 50 })).toEqual([
    "2056-01-01T00:00:00Z",
    "2086-01-01T00:00:00Z",
    "2116-01-01T00:00:00Z",
  ]);
});
