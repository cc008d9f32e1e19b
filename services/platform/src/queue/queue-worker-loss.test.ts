// A queue worker that loses a claim, is stopped, or cannot reach its queue.

import { EngineError } from "@pawl/core/fault/engine-error";
import { expect, test } from "vitest";
import { settle } from "../lifecycle/manual-timers.fixture.ts";
import { command, crew, setup } from "./queue-worker.fixture.ts";

test("a fenced writer ends the job at once: no retry, no counted attempt, no more calls about it (S0.32, S0.40, S0.44)", async () => {
  const { queue, start, at, emitted } = setup();
  const jobId = await queue.enqueue(command());
  await start();
  const before = await queue.getJob(jobId);
  await at(0).fail(new EngineError("STALE_CLAIM", "another epoch"));
  expect(emitted.at(-1)).toEqual(["job:claim_lost", jobId, at(0).job.runId]);
  expect(await queue.getJob(jobId)).toEqual(before);
});

test("a worker that was paused past its claim gets a refused heartbeat, aborts and sends nothing more (S0.32, S0.40, S0.44)", async () => {
  const { queue, start, at, emitted, timers } = setup({ heartbeatIntervalMs: 400_000 });
  const jobId = await queue.enqueue(command());
  await start();
  // No heartbeat for longer than the claim lives: another worker gets the job.
  await timers.advance(330_000);
  const heir = crew(timers, queue, { workerId: "heir" });
  await heir.start();
  expect(heir.at(0).job).toMatchObject({ jobId, claimEpoch: 2 });
  await timers.advance(70_000);
  expect(at(0).signals.abort.aborted).toBe(true);
  expect(emitted.filter((each) => Array.isArray(each) && each[0] === "job:claim_lost").length).toBe(
    1,
  );
  await at(0).rest("completed");
  expect(await queue.getJob(jobId)).toMatchObject({ status: "active", claimEpoch: 2 });
});

test("a stop asks every job to finish, waits, and takes no new job (S0.26, S0.47, S0.48)", async () => {
  const { worker, queue, start, at, running, emitted } = setup();
  const jobId = await queue.enqueue(command());
  await queue.enqueue(command());
  await start();
  expect(at(0).signals.finish.aborted).toBe(false);
  const stopped = worker.stop();
  await settle();
  expect([at(0).signals.finish.aborted, at(0).signals.abort.aborted]).toEqual([true, false]);
  await at(0).rest("completed");
  await stopped;
  expect(await queue.getJob(jobId)).toMatchObject({ status: "completed" });
  expect(running.length).toBe(1);
  expect(emitted.at(-1)).toEqual(["worker:stopped", "worker-1"]);
});

test("a job that is unfinished at a stop stays active and comes back without a counted attempt; it is neither paused nor acknowledged (S0.50, S0.51)", async () => {
  const { worker, queue, start, at, timers } = setup();
  const jobId = await queue.enqueue(command({ maxAttempts: 1 }));
  await start();
  const stopped = worker.stop();
  await settle();
  await at(0).rest("interrupted");
  await stopped;
  expect(await queue.getJob(jobId)).toMatchObject({ status: "active" });
  const heir = crew(timers, queue, { workerId: "heir" });
  await heir.start();
  expect(heir.at(0).job).toMatchObject({ jobId, claimEpoch: 2, attempts: 0 });
});

test("a job that outlives the grace period is aborted, and its failure does not count (S0.25, S0.48, S0.49, S0.51)", async () => {
  const { worker, queue, start, at, timers } = setup();
  const jobId = await queue.enqueue(command({ maxAttempts: 1 }));
  await start();
  const stopped = worker.stop();
  await timers.advance(29_999);
  expect(at(0).signals.abort.aborted).toBe(false);
  await timers.advance(1);
  expect(at(0).signals.abort.aborted).toBe(true);
  await at(0).fail(new Error("aborted"));
  await stopped;
  expect(await queue.getJob(jobId)).toMatchObject({ status: "active", attempts: 0, error: null });
  expect(await queue.reclaimExpired()).toEqual({ waiting: 1, dead_letter: 0 });
});

test("a job whose runner still writes is not given back: it stays claimed until its claim runs out (S0.49, S0.50)", async () => {
  const { worker, queue, start, at, timers } = setup();
  const jobId = await queue.enqueue(command());
  await start();
  const { visibleUntil } = at(0).job;
  const stopped = worker.stop();
  await timers.advance(35_000);
  await stopped;
  expect(await queue.getJob(jobId)).toMatchObject({ status: "active", visibleUntil });
  expect(await queue.reclaimExpired()).toEqual({ waiting: 0, dead_letter: 0 });
  await timers.advance(visibleUntil - timers.now());
  expect(await queue.reclaimExpired()).toEqual({ waiting: 1, dead_letter: 0 });
});

test("a job claimed while the worker stops is given back untouched (S0.51)", async () => {
  const { worker, queue, start, running } = setup();
  await start();
  const gate = Promise.withResolvers<void>();
  const dequeue = queue.dequeue.bind(queue);
  queue.dequeue = async (workerId) => (await gate.promise, await dequeue(workerId));
  const jobId = await queue.enqueue(command({ maxAttempts: 1 }));
  await settle();
  const stopped = worker.stop();
  gate.resolve();
  await stopped;
  expect(running.length).toBe(0);
  expect(await queue.reclaimExpired()).toEqual({ waiting: 1, dead_letter: 0 });
  expect(await queue.getJob(jobId)).toMatchObject({ status: "waiting", attempts: 0 });
});

test("an unreachable queue is reported to onError, and the worker continues (S0.2)", async () => {
  const errors: unknown[] = [];
  const { queue, start, at, running, timers } = setup({ onError: (error) => errors.push(error) });
  const away = new Error("away");
  const dequeue = queue.dequeue.bind(queue);
  queue.dequeue = () => Promise.reject(away);
  await queue.enqueue(command());
  await start();
  expect([errors.includes(away), running.length]).toEqual([true, 0]);
  queue.dequeue = dequeue;
  await timers.advance(1_000);
  const ack = queue.ack.bind(queue);
  queue.ack = () => Promise.reject(away);
  const { jobId } = at(0).job;
  await at(0).rest("completed");
  queue.ack = ack;
  // The queue did not get the result: the job runs again when its claim has run out, under a newer epoch.
  await timers.advance(330_000);
  expect(at(1).job).toMatchObject({ jobId, claimEpoch: 2 });
});

test("a heartbeat that crosses with the end of its job does not lose the claim (S0.28, S0.32)", async () => {
  const { queue, start, at, emitted, timers } = setup();
  const jobId = await queue.enqueue(command());
  await start();
  const held = Promise.withResolvers<void>();
  const heartbeat = queue.heartbeat.bind(queue);
  queue.heartbeat = async (claim, extendMs) => (await held.promise, heartbeat(claim, extendMs));
  await timers.advance(60_000);
  await at(0).rest("completed");
  held.resolve();
  await settle();
  expect(emitted.slice(1)).toEqual([
    ["job:claimed", jobId, at(0).job.runId],
    ["job:completed", jobId, at(0).job.runId],
  ]);
});

test("a hint that comes just as the worker stopped looking is not lost (S0.22)", async () => {
  const { queue, start, running, worker } = setup({ concurrency: 50, pollIntervalMs: 3_600_000 });
  const dequeue = queue.dequeue.bind(queue);
  // In whichever turn after the last look a job and its hint arrive, the worker takes the job without a poll.
  for (let turns = 0; turns < 12; turns += 1) {
    let hasEnqueued = false;
    queue.dequeue = async (workerId) => {
      const job = await dequeue(workerId);
      if (job !== null || hasEnqueued) return job;
      hasEnqueued = true;
      void (async () => {
        for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
        await queue.enqueue(command());
      })();
      return job;
    };
    if (turns === 0) await start();
    else worker.wake();
    await settle();
    expect(running.length).toBe(turns + 1);
  }
});
