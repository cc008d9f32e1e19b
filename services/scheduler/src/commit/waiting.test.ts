import { expect, test } from "vitest";
import { Waiting } from "./waiting.ts";

function setup() {
  const clock = { now: 1_000 };
  return { clock, waiting: new Waiting(() => clock.now) };
}

test("a queue is believed empty until a job is put into it, and again after a short fetch", () => {
  const { waiting } = setup();
  expect(waiting.mayWait("noop")).toBe(false);
  waiting.enqueued("noop");
  expect(waiting.mayWait("noop")).toBe(true);
  waiting.emptied("noop");
  expect(waiting.mayWait("noop")).toBe(false);
});

test("delayed jobs ripen one after the other, also when the first was fetched (S3.36)", () => {
  const { clock, waiting } = setup();
  waiting.enqueued("noop", 2_000.5);
  waiting.enqueued("noop", 1_000);
  expect(waiting.mayWait("noop")).toBe(false);
  expect(waiting.nextDueInMs).toBe(1_000);
  clock.now = 2_000;
  expect(waiting.types).toEqual(["noop"]);
  waiting.emptied("noop");
  expect(waiting.nextDueInMs).toBe(1_000.5);
  clock.now = 3_000;
  expect(waiting.mayWait("noop")).toBe(false);
  clock.now = 3_000.5;
  expect(waiting.mayWait("noop")).toBe(true);
  expect(waiting.nextDueInMs).toBeUndefined();
});
