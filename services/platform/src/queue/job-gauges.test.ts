// The gauges of the workflow queue: a queue that cannot be read must not make all metrics fail.

import { expect, onTestFinished, test } from "vitest";
import { MemoryWorkflowQueue } from "./memory-workflow-queue.fixture.ts";
import { METRICS } from "../telemetry/catalogue.ts";
import { readQueueDepth, setQueueDepthProvider } from "./job-gauges.ts";

/** Records the values of the two gauges. */
function watchGauges(): Map<string, number> {
  const seen = new Map<string, number>();
  const { commands, commandBacklog } = METRICS;
  const before = { commands: { ...commands }, backlog: { ...commandBacklog } };
  commands.set = (value, { status }) => void seen.set(status, value);
  commandBacklog.set = (value) => void seen.set("backlog", value);
  onTestFinished(() => {
    setQueueDepthProvider(undefined);
    Object.assign(commands, before.commands);
    Object.assign(commandBacklog, before.backlog);
  });
  return seen;
}

test("the gauges show the depths of the provider, and the backlog counts waiting and active commands (S0.58)", async () => {
  const seen = watchGauges();
  const queue = new MemoryWorkflowQueue();
  setQueueDepthProvider(() => queue.getQueueDepth());
  for (let n = 0; n < 3; n += 1)
    await queue.enqueue({ type: "start", runId: crypto.randomUUID(), graphId: "hello" });
  await queue.dequeue("worker");
  await readQueueDepth();
  expect(Object.fromEntries(seen)).toEqual({
    waiting: 2,
    active: 1,
    paused: 0,
    dead_letter: 0,
    backlog: 3,
  });
});

test("a provider that fails, or none, leaves the gauges as they were (S0.58)", async () => {
  const seen = watchGauges();
  setQueueDepthProvider(() => Promise.reject(new Error("away")));
  await readQueueDepth();
  setQueueDepthProvider(undefined);
  await readQueueDepth();
  expect(seen.size).toBe(0);
});
