import { expect, onTestFinished, test } from "vitest";

import { armProbes, listenToProbes, parseFailpoints, probe } from "./probe.ts";

const arm = (failpoints: string, more: Readonly<Record<string, string>> = { PAWL_TEST: "1" }) => {
  onTestFinished(() => armProbes({}));
  armProbes({ PAWL_FAILPOINTS: failpoints, ...more });
};

test("a failpoint strikes at its nth hit and at no other", () => {
  arm("S3@2=throw");
  probe("S3");
  probe("S4");
  expect(() => probe("S3")).toThrow("failpoint S3");
  probe("S3");
});

test("failpoints are left alone outside of tests", () => {
  arm("S3=throw", {});
  probe("S3");
});

test("a process refuses to start with failpoints in production", () => {
  expect(() => arm("S3=kill", { PAWL_TEST: "1", PAWL_ENV: "production" })).toThrow(
    "must not be set in production",
  );
});

test("failpoints are read in all their forms", () => {
  expect(parseFailpoints("S3@7=kill; X3@*p0.01=stop;S8=block:5000;")).toEqual([
    { point: "S3", hit: 7, probability: 0, action: { kind: "kill" } },
    { point: "X3", hit: undefined, probability: 0.01, action: { kind: "stop" } },
    { point: "S8", hit: 1, probability: 0, action: { kind: "block", blockMs: 5_000 } },
  ]);
});

test("a failpoint that cannot be read is a fault of the configuration", () => {
  expect(() => arm("S3@7=explode")).toThrow("PAWL_FAILPOINTS");
});

test("a listener hears of the points passed until it is taken off", () => {
  const heard: string[] = [];
  const silence = listenToProbes((point) => void heard.push(point));
  probe("G4");
  silence();
  probe("G5");
  expect(heard).toEqual(["G4"]);
});
