import { expect, test } from "vitest";
import { Patience, RECONNECT_MS } from "./patience.ts";

const RENEW_MS = 1_000;
const SWEEP_MS = 2_000;

function setup() {
  let now = 1_000_000;
  const begun: number[] = [];
  const patience = new Patience({
    renewMs: RENEW_MS,
    sweepMs: SWEEP_MS,
    now: () => now,
    onBegin: (forMs) => begun.push(forMs),
  });
  const pass = (ms: number): void => void (now += ms);
  /** Sweeps as they should be until nobody needs patience any more. */
  const settle = async (): Promise<void> => {
    for (let sweeps = 0; sweeps < 5; sweeps += 1) {
      pass(SWEEP_MS);
      await patience.look(async () => []);
    }
  };
  return { patience, pass, settle, begun };
}

test("a scheduler that has just started takes nobody's silence for death (S0.35)", async () => {
  const { patience, pass } = setup();
  expect(patience.isOver).toBe(false);
  pass(RENEW_MS + RECONNECT_MS);
  expect(patience.isOver).toBe(true);
});

test("sweeps on time end it and do not begin it again", async () => {
  const { patience, settle, begun } = setup();
  await settle();
  expect(patience.isOver).toBe(true);
  expect(begun).toEqual([]);
});

test("a look that failed, took long or came late begins it", async () => {
  const { patience, pass, settle, begun } = setup();
  await settle();
  await expect(patience.look(() => Promise.reject(new Error("away")))).rejects.toThrow("away");
  expect(patience.isOver).toBe(false);
  await settle();
  expect(patience.isOver).toBe(true);
  await patience.look(async () => pass(RENEW_MS + 1));
  expect(patience.isOver).toBe(false);
  await settle();
  pass(SWEEP_MS + RENEW_MS + 1);
  await patience.look(async () => []);
  expect(patience.isOver).toBe(false);
  expect(begun).toEqual(Array.from({ length: 3 }, () => RENEW_MS + RECONNECT_MS));
});
