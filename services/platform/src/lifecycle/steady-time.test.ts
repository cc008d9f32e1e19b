import { expect, test } from "vitest";
import { steadyNow, steadyTime } from "./steady-time.ts";

const HOUR = 3_600_000;

function setup() {
  const at = { monotonic: 5_000, wall: 1_700_000_000_000, uptime: 90_000 };
  const now = steadyTime({
    monotonic: () => at.monotonic,
    wall: () => at.wall,
    uptime: () => at.uptime,
  });
  const pass = (ms: number): void => {
    at.monotonic += ms;
    at.wall += ms;
    at.uptime += ms;
  };
  const sleep = (ms: number): void => {
    at.wall += ms;
    at.uptime += ms;
  };
  return { at, now, pass, sleep };
}

test("a wall clock that is set, forwards or back, changes nothing", () => {
  const { at, now, pass } = setup();
  const began = now();
  for (const step of [HOUR, -2 * HOUR, HOUR]) {
    at.wall += step;
    pass(10);
  }
  expect(now() - began).toBe(30);
});

test("time for which the machine slept counts, also when its wall clock is set meanwhile", () => {
  const { at, now, pass, sleep } = setup();
  const began = now();
  sleep(HOUR);
  pass(10);
  expect(now() - began).toBe(HOUR + 10);
  sleep(HOUR);
  at.wall += HOUR;
  pass(10);
  expect(now() - began).toBe(2 * HOUR + 20);
});

test("it only grows", () => {
  const { at, now, pass } = setup();
  let last = now();
  for (let turn = 0; turn < 100; turn += 1) {
    at.wall += (turn % 2 === 0 ? 1 : -1) * turn * 1_000;
    pass(turn % 3);
    expect(now()).toBeGreaterThanOrEqual(last);
    last = now();
  }
  expect(steadyNow()).toBeLessThanOrEqual(steadyNow());
});
