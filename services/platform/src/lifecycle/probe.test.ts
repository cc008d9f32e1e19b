import { expect, onTestFinished, test } from "vitest";

import { armProbes, parseFailpoints, probe } from "./probe.ts";

const arm = (failpoints: string, more: Readonly<Record<string, string>> = { PAWL_TEST: "1" }) => {
  onTestFinished(() => armProbes({}));
  armProbes({ PAWL_FAILPOINTS: failpoints, ...more });
};

test("a failpoint strikes at its nth hit and at no other", () => {
  arm("outcome.received@2=throw");
  probe("outcome.received");
  probe("tick.after-commit");
  expect(() => probe("outcome.received")).toThrow("failpoint outcome.received");
  probe("outcome.received");
});

test("failpoints are ignored outside of tests", () => {
  arm("outcome.received=throw", {});
  probe("outcome.received");
});

test("a process refuses to start with failpoints in production", () => {
  expect(() => arm("outcome.received=kill", { PAWL_TEST: "1", PAWL_ENV: "production" })).toThrow(
    "must not be set in production",
  );
});

test("failpoints are read in all their forms", () => {
  expect(
    parseFailpoints(
      "outcome.received@7=kill; handler.after-run@*p0.01=stop;sweep.before-take-back=block:5000;",
    ),
  ).toEqual([
    { point: "outcome.received", hit: 7, probability: 0, action: "kill", blockMs: 0 },
    { point: "handler.after-run", hit: undefined, probability: 0.01, action: "stop", blockMs: 0 },
    { point: "sweep.before-take-back", hit: 1, probability: 0, action: "block", blockMs: 5_000 },
  ]);
});

test("a failpoint that cannot be read is a fault of the configuration", () => {
  for (const text of [
    "outcome.received@7=explode",
    "outcome.received=kill:5",
    "no.such-point=kill",
  ])
    expect(() => arm(text)).toThrow("PAWL_FAILPOINTS");
});
