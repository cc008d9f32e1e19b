import { createLogger } from "@pawl/platform/telemetry/log";
import { expect, onTestFinished, test } from "vitest";
import { until } from "../../../../test/support/until.ts";
import { Sweeper } from "./sweeper.ts";

const HOUR_MS = 3_600_000;

function setup(duty: () => Promise<boolean>) {
  const log = createLogger({ service: "test", level: "silent" });
  const sweeper = new Sweeper({ name: "test", intervalMs: HOUR_MS, duty, log });
  onTestFinished(() => sweeper.stop());
  return sweeper;
}

test("a sweep that is due sooner does not stand for one asked for later (S0.35)", async () => {
  let count = 0;
  const sweeper = setup(async () => {
    count += 1;
    return false;
  });
  sweeper.soon(0);
  sweeper.soon(300);
  await until(() => count >= 2, { what: "both sweeps" });
});

test("a sweep asked for while one is under way follows it, and never beside it (S4.35)", async () => {
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  let running = 0;
  let most = 0;
  let count = 0;
  const sweeper = setup(async () => {
    running += 1;
    most = Math.max(most, running);
    await opened;
    running -= 1;
    count += 1;
    return false;
  });
  sweeper.start();
  await until(() => running === 1, { what: "the first sweep" });
  sweeper.soon(0);
  open();
  await until(() => count >= 2, { what: "the second sweep" });
  expect(most).toBe(1);
});

test("a duty that fails is tried again when it is asked for", async () => {
  let count = 0;
  const sweeper = setup(async () => {
    count += 1;
    throw new Error("away");
  });
  sweeper.soon(0);
  await until(() => count >= 1, { what: "the first try" });
  const tried = count;
  sweeper.soon(0);
  await until(() => count > tried, { what: "another try" });
});
