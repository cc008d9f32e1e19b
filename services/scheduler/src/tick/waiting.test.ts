import { expect, test } from "vitest";
import { Waiting } from "./waiting.ts";

function setup() {
  const clock = { now: 1_000 };
  return { clock, waiting: new Waiting(() => clock.now) };
}

test("a queue is believed empty until a job is put into it, and again after a short fetch", () => {
  const { waiting } = setup();
  expect(waiting.mayWait("noop")).toBe(false);
  waiting.enqueued("noop", 1_000);
  expect(waiting.mayWait("noop")).toBe(true);
  waiting.emptied("noop");
  expect(waiting.mayWait("noop")).toBe(false);
});

test("delayed jobs ripen one after the other, also when the first was fetched (S3.36)", () => {
  const { clock, waiting } = setup();
  waiting.enqueued("noop", 3_000);
  waiting.enqueued("noop", 2_000);
  expect(waiting.mayWait("noop")).toBe(false);
  expect(waiting.nextDueAt).toBe(2_000);
  clock.now = 2_000;
  expect(waiting.types).toEqual(["noop"]);
  waiting.emptied("noop");
  expect(waiting.nextDueAt).toBe(3_000);
  clock.now = 3_500;
  expect(waiting.mayWait("noop")).toBe(true);
  expect(waiting.nextDueAt).toBeUndefined();
});
