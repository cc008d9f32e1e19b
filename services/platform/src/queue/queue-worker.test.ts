// The options of a queue worker, and the results of its jobs.

import { EngineError } from "@pawl/core/fault/engine-error";
import { expect, test } from "vitest";
import { settle } from "../lifecycle/manual-timers.fixture.ts";
import { MemoryWorkflowQueue } from "./memory-workflow-queue.fixture.ts";
import { command, type Options, setup } from "./queue-worker.fixture.ts";
import { QueueWorker } from "./queue-worker.ts";
import type { ClaimedJob } from "./workflow-queue.ts";

test("a worker without queue, persistence or event log, or with odd numbers, reports every fault (S0.17, S0.18, S0.19)", () => {
  const make = (options: object): unknown => {
    try {
      return new QueueWorker(options as Options);
    } catch (error) {
      return error;
    }
  };
  const fault = make({ concurrency: 0, pollIntervalMs: 0.5 });
  expect(fault).toBeInstanceOf(EngineError);
  expect(fault).toMatchObject({
    reason: "INPUT_INVALID",
    violations: ["queue", "persistence", "eventLog", "run", "concurrency", "pollIntervalMs"].map(
      (field) => expect.objectContaining({ field }),
    ),
  });
  const one = { queue: new MemoryWorkflowQueue(), persistence: "p", run: async () => "failed" };
  expect(make(one)).toMatchObject({ violations: [{ field: "eventLog", reason: "REQUIRED" }] });
});

test("a worker has a random UUID as its name by default (S0.16)", () => {
  const { worker } = setup();
  expect(worker.workerId).toBe("worker-1");
  const parts = { queue: new MemoryWorkflowQueue(), persistence: "", eventLog: "" };
  const names = [1, 2].map(
    () => new QueueWorker({ ...parts, run: async () => "completed" }).workerId,
  );
  expect(new Set(names).size).toBe(2);
  for (const name of names) expect(name).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
});

test("a job is claimed, run with the worker's parts and acknowledged, and each step is an event (S0.26, S0.27, S0.28, S0.33, S0.34)", async () => {
  const { worker, queue, start, at, emitted } = setup();
  const jobId = await queue.enqueue(command());
  await start();
  const { job, given } = at(0);
  expect([job.jobId, given]).toEqual([jobId, { persistence: "snapshots", eventLog: "log" }]);
  await at(0).rest("completed");
  await worker.stop();
  expect(emitted).toEqual([
    ["worker:started", "worker-1"],
    ["job:claimed", jobId, job.runId],
    ["job:completed", jobId, job.runId],
    ["worker:stopped", "worker-1"],
  ]);
  expect(await queue.getJob(jobId)).toMatchObject({ status: "completed" });
});

test("the factory's parts for a job replace the worker's own parts (S0.20)", async () => {
  const runnerOptionsFactory = (job: ClaimedJob) => ({ eventLog: `epoch ${job.claimEpoch}` });
  const { queue, start, at } = setup({ runnerOptionsFactory });
  await queue.enqueue(command());
  await start();
  expect(at(0).given).toEqual({ persistence: "snapshots", eventLog: "epoch 1" });
});

test("a factory that throws is a failed attempt, not a dead worker (S0.20)", async () => {
  const { queue, start, emitted } = setup({
    runnerOptionsFactory: () => {
      throw new Error("no writer");
    },
  });
  const jobId = await queue.enqueue(command({ maxAttempts: 1 }));
  await start();
  expect(emitted).toContainEqual(["job:dead_letter", jobId, expect.any(String), "no writer"]);
});

test("one job at a time unless more are allowed; a free slot takes the next at once (S0.21)", async () => {
  const { queue, start, at, running, worker } = setup();
  for (let n = 0; n < 3; n += 1) await queue.enqueue(command());
  await start();
  expect([running.length, worker.busyCount]).toEqual([1, 1]);
  await at(0).rest("completed");
  expect([running.length, worker.busyCount]).toEqual([2, 1]);
  const wide = setup({ concurrency: 2 });
  for (let n = 0; n < 3; n += 1) await wide.queue.enqueue(command());
  await wide.start();
  expect(wide.running.length).toBe(2);
});

test("a worker polls every second by default, also without hints (S0.22)", async () => {
  const { queue, start, running, timers } = setup({ concurrency: 9 });
  // Like a connection that gets no notifications.
  queue.watch = () => () => undefined;
  await start();
  await queue.enqueue(command());
  await timers.advance(999);
  expect(running.length).toBe(0);
  await timers.advance(1);
  expect(running.length).toBe(1);
  const slow = setup({ pollIntervalMs: 60_000 });
  slow.queue.watch = () => () => undefined;
  await slow.start();
  await slow.queue.enqueue(command());
  await slow.timers.advance(59_999);
  expect(slow.running.length).toBe(0);
  await slow.timers.advance(1);
  expect(slow.running.length).toBe(1);
});

test("a hint of the queue wakes the worker before its next poll (S0.22)", async () => {
  const { queue, start, running } = setup();
  await start();
  await queue.enqueue(command());
  await settle();
  expect(running.length).toBe(1);
});

test("claims are renewed every minute while the job runs (S0.9, S0.23)", async () => {
  const { queue, start, at, timers, emitted } = setup();
  const heartbeat = queue.heartbeat.bind(queue);
  const renewedAt: number[] = [];
  queue.heartbeat = (...args) => {
    renewedAt.push(timers.now());
    return heartbeat(...args);
  };
  const jobId = await queue.enqueue(command());
  await start();
  await timers.advance(3_600_000);
  expect(renewedAt).toEqual(Array.from({ length: 60 }, (_, minute) => (minute + 1) * 60_000));
  expect(await queue.getJob(jobId)).toMatchObject({ status: "active", attempts: 0, claimEpoch: 1 });
  await at(0).rest("completed");
  expect(emitted).toContainEqual(["job:completed", jobId, expect.any(String)]);
});

test("a live worker takes back the jobs of a dead one by its timer and runs them again (S0.2, S0.24, S0.35, S0.39)", async () => {
  const { queue, start, at, running, timers } = setup();
  const reclaimExpired = queue.reclaimExpired.bind(queue);
  const lookedAt: number[] = [];
  queue.reclaimExpired = () => {
    lookedAt.push(timers.now());
    return reclaimExpired();
  };
  const jobId = await queue.enqueue(command());
  await queue.dequeue("dead");
  await start();
  // The claim lives for five minutes; the timer looks each 30 s.
  await timers.advance(299_999);
  expect(lookedAt.filter((time) => time > 0)).toEqual(
    Array.from({ length: 9 }, (_, look) => (look + 1) * 30_000),
  );
  expect(running.length).toBe(0);
  await timers.advance(1);
  expect(at(0).job).toMatchObject({ jobId, type: "start", claimEpoch: 2, attempts: 1 });
});

test("a failed job waits again with an event; the last failure makes it a dead letter (S0.8, S0.29, S0.31, S0.56)", async () => {
  const { queue, start, at, emitted } = setup();
  const jobId = await queue.enqueue(command({ maxAttempts: 2 }));
  await start();
  await at(0).fail(new Error("first"));
  await at(1).fail("second");
  const { runId } = at(0).job;
  expect(emitted.slice(1)).toEqual([
    ["job:claimed", jobId, runId],
    ["job:failed", jobId, runId, "first"],
    ["job:claimed", jobId, runId],
    ["job:dead_letter", jobId, runId, "second"],
  ]);
  expect(await queue.getQueueDepth()).toMatchObject({ waiting: 0, active: 0, dead_letter: 1 });
});

test("a failed job may have to wait for its next attempt (S0.8)", async () => {
  const { queue, start, at, running, timers } = setup({
    retryDelayMs: (_, failures) => failures * 5_000,
    pollIntervalMs: 3_600_000,
  });
  await queue.enqueue(command());
  await start();
  await at(0).fail(new Error("busy"));
  await timers.advance(4_999);
  expect(running.length).toBe(1);
  await timers.advance(1);
  expect(running.length).toBe(2);
});

test("a run that waits for a person pauses its job and frees the slot; no worker takes the job again (S0.10, S0.15, S0.30, S0.53)", async () => {
  const { queue, start, at, emitted, running, timers } = setup();
  const gate = await queue.enqueue(command());
  const next = await queue.enqueue(command());
  await start();
  await at(0).rest("waiting");
  expect(emitted).toContainEqual(["job:released", gate, at(0).job.runId]);
  expect(at(1).job.jobId).toBe(next);
  await timers.advance(3_600_000);
  expect(running.length).toBe(2);
  expect(await queue.getJob(gate)).toMatchObject({ status: "paused", attempts: 0 });
});

test.each(["completed", "failed", "cancelled", "timeout"] as const)(
  "a run that ended as %s acknowledges its job (S0.52)",
  async (status) => {
    const { queue, start, at } = setup();
    const jobId = await queue.enqueue(command());
    await start();
    await at(0).rest(status);
    expect(await queue.getJob(jobId)).toMatchObject({ status: "completed" });
  },
);
