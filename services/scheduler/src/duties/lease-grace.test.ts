import { expect, test } from "vitest";
import { LeaseGrace, RECONNECT_MS } from "./lease-grace.ts";

const RENEW_MS = 1_000;
const SWEEP_MS = 2_000;

function setup() {
  let now = 1_000_000;
  const begun: number[] = [];
  const leaseGrace = new LeaseGrace({
    renewMs: RENEW_MS,
    sweepMs: SWEEP_MS,
    now: () => now,
    onBegin: (forMs) => begun.push(forMs),
  });
  const pass = (ms: number): void => void (now += ms);
  /** Sweeps as they should be until no lease grace is left. */
  const settle = async (): Promise<void> => {
    for (let sweeps = 0; sweeps < 5; sweeps += 1) {
      pass(SWEEP_MS);
      await leaseGrace.look(async () => []);
    }
  };
  return { leaseGrace, pass, settle, begun };
}

test("a scheduler that has just started takes no silent executor for dead (S0.35)", async () => {
  const { leaseGrace, pass } = setup();
  expect(leaseGrace.isOver).toBe(false);
  pass(RENEW_MS + RECONNECT_MS);
  expect(leaseGrace.isOver).toBe(true);
});

test("sweeps on time end it and do not begin it again", async () => {
  const { leaseGrace, settle, begun } = setup();
  await settle();
  expect(leaseGrace.isOver).toBe(true);
  expect(begun).toEqual([]);
});

test("a look that failed, took long or came late begins it", async () => {
  const { leaseGrace, pass, settle, begun } = setup();
  await settle();
  await expect(leaseGrace.look(() => Promise.reject(new Error("away")))).rejects.toThrow("away");
  expect(leaseGrace.isOver).toBe(false);
  await settle();
  expect(leaseGrace.isOver).toBe(true);
  await leaseGrace.look(async () => pass(RENEW_MS + 1));
  expect(leaseGrace.isOver).toBe(false);
  await settle();
  pass(SWEEP_MS + RENEW_MS + 1);
  await leaseGrace.look(async () => []);
  expect(leaseGrace.isOver).toBe(false);
  expect(begun).toEqual(Array.from({ length: 3 }, () => RENEW_MS + RECONNECT_MS));
});
