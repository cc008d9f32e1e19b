import { LIMITS } from "@pawl/core/data/limits";
import { executorId, nodeId, runId } from "@pawl/core/name/ids";
import { expect, test } from "vitest";
import type { Claim } from "../inputs/input.ts";
import { Session } from "./session.ts";

const LARGE = LIMITS.contextBytes;
const claimAt = (iteration: number): Claim => ({
  runId: runId("00000000-0000-7000-8000-000000000001"),
  nodeId: nodeId("each"),
  iteration,
  epoch: iteration,
});

function setup() {
  const leave: (() => void)[] = [];
  let roomCalls = 0;
  const session = new Session({
    executorId: executorId(crypto.randomUUID()),
    sessionId: crypto.randomUUID(),
    nodeTypes: ["noop"],
    capacity: 256,
    held: [],
    send: (_item, onSent = () => {}) => void leave.push(onSent),
    onRoom: () => void (roomCalls += 1),
  });
  const claim = (iteration: number, bytes: number): void => {
    session.reserve(bytes);
    session.unreserve(bytes);
    session.assign(claimAt(iteration), {}, bytes);
  };
  return { session, claim, leave, roomCalls: () => roomCalls };
}

test("small assignments are bounded by slots alone", () => {
  const { session, claim } = setup();
  for (let each = 1; each <= 200; each += 1) claim(each, 1_000);
  expect(session.credit).toBe(56);
});

test("an executor that takes nothing off its stream is given no more than the bytes that may wait, and one assignment", () => {
  const { session, claim, leave, roomCalls } = setup();
  let given = 0;
  while (session.credit > 0) claim((given += 1), LARGE);
  expect(given * LARGE).toBeLessThanOrEqual(LIMITS.unsentBytes + LARGE);
  expect(session.unsent).toHaveLength(given);
  leave.shift()?.();
  expect(roomCalls()).toBe(1);
  expect(session.credit).toBe(1);
  expect(session.unsent).toHaveLength(given - 1);
});

test("once assignments are small again there is room for many, although a large one was there before", () => {
  const { session, claim, leave } = setup();
  claim(1, LARGE);
  expect(session.credit).toBeLessThan(10);
  for (let each = 2; each <= 60; each += 1) claim(each, 1_000);
  leave.shift()?.();
  expect(session.credit).toBe(196);
});
