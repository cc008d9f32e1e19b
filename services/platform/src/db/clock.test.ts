import { expect, onTestFinished, test } from "vitest";
import { freshDatabase } from "../../../../test/support/postgres.ts";
import { DatabaseClock } from "./clock.ts";
import { openPool } from "./pool.ts";

const NOON = Date.parse("2026-06-15T12:00:00Z");
const HOUR = 3_600_000;

/** A database `NOON` ahead of a process whose steady time is set by hand. */
function setup() {
  const at = { steady: 1_000, ahead: NOON };
  const steps: number[] = [];
  const clock = new DatabaseClock({
    steady: () => at.steady,
    onStep: (byMs) => void steps.push(byMs),
  });
  /** A question that takes `takesMs`; the server reads its clock after `readAfterMs` of it. */
  const ask = (takesMs = 2, readAfterMs = 1): void => {
    const askedAt = at.steady;
    at.steady += takesMs;
    clock.correct(askedAt + readAfterMs + at.ahead, askedAt, at.steady);
  };
  /** How wrong a reading is. */
  const error = (): number => clock.now() - (at.steady + at.ahead);
  return { at, clock, steps, ask, error };
}

test("a reading is the database's time, and stays so while time passes", () => {
  const { at, ask, error } = setup();
  ask();
  expect(error()).toBe(0);
  at.steady += 5 * HOUR;
  expect(error()).toBe(0);
});

test("a slow answer does not make the reading worse", () => {
  const { ask, error, steps } = setup();
  ask();
  ask(30_000, 29_999);
  ask(30_000, 0);
  expect(error()).toBe(0);
  expect(steps).toEqual([]);
});

test("the reading follows a step of the database's clock at once, forwards and back, and reports it", () => {
  const { at, ask, error, steps } = setup();
  ask();
  for (const step of [HOUR, -2 * HOUR]) {
    at.ahead += step;
    ask();
    expect(Math.abs(error())).toBeLessThanOrEqual(1);
  }
  expect(steps).toEqual([expect.closeTo(HOUR, -1), expect.closeTo(-2 * HOUR, -1)]);
});

test("the reading follows a drift of the database's clock without a report", () => {
  const { at, ask, error, steps } = setup();
  for (let turn = 0; turn < 1_000; turn += 1) {
    at.steady += 20_000;
    at.ahead += 5;
    ask();
    expect(Math.abs(error())).toBeLessThanOrEqual(1);
  }
  expect(steps).toEqual([]);
});

test("a reading before the first answer of the database is refused", () => {
  const { clock } = setup();
  expect(() => clock.now()).toThrow("was not read yet");
});

test("the reading of a real database is exact to the time of the query", async () => {
  const database = await freshDatabase();
  const pool = openPool(database.url, { max: 1, name: "pawl-clock" });
  onTestFinished(async () => {
    await pool.end();
    await database.drop();
  });
  const clock = new DatabaseClock();
  const asked = performance.now();
  await clock.learn(pool);
  const { rows } = await pool.query<{ now: Date }>({ text: "select clock_timestamp() as now" });
  const tookMs = performance.now() - asked;
  expect(Math.abs(clock.now() - (rows[0]?.now.getTime() ?? 0))).toBeLessThanOrEqual(tookMs + 1);
});
