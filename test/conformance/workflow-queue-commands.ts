// The promises of every workflow queue about the commands that go in and the jobs that come out.

import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import type { QueueUnderTest } from "./workflow-queue-open.ts";
import { claim, command, statusOf } from "./workflow-queue-setup.ts";

/** A command and its way through. */
export function commandTests(under: QueueUnderTest): void {
  test("a command comes out as it went in, with its defaults (S0.4, S0.5, S0.6, S0.12)", async () => {
    const runId = randomUUID();
    const initialState = { goal: "täglich", deep: [1, null, { a: true }] };
    const jobId = await under.queue.enqueue(command({ runId, initialState }));
    expect(jobId).toMatch(/^[0-9a-f-]{36}$/);
    const body = {
      type: "start",
      runId,
      graphId: "hello",
      initialState,
      priority: 0,
      maxAttempts: 3,
      tenantId: "default",
    };
    const never = { claimEpoch: 0, workerId: null, visibleUntil: null, error: null };
    const waiting = { jobId, status: "waiting", attempts: 0, ...never };
    expect(await under.queue.getJob(jobId)).toEqual({ ...waiting, command: body });
    const job = await claim(under.queue, "worker-7");
    const { visibleUntil } = job;
    const held = { jobId, claimEpoch: 1, workerId: "worker-7", attempts: 0, visibleUntil };
    expect(job).toEqual({ ...body, ...held });
    expect(await under.queue.getJob(jobId)).toEqual({
      ...held,
      status: "active",
      error: null,
      command: body,
    });
    expect(await under.queue.dequeue("worker-8")).toBeNull();
  });

  test("a resume carries the person's response (S0.4)", async () => {
    const humanResponse = { node_id: "gate", decision: "approve" };
    await under.queue.enqueue(command({ type: "resume", humanResponse }));
    expect(await claim(under.queue)).toMatchObject({ type: "resume", humanResponse });
  });

  test("an invalid command is refused with every field at fault and changes nothing (S0.4)", async () => {
    const bad = command({ runId: "7", graphId: "", maxAttempts: 0, priority: 0.5 });
    // As it comes from JavaScript.
    const fault = under.queue.enqueue({ ...bad, type: "stop" as "start" });
    await expect(fault).rejects.toMatchObject({
      reason: "INPUT_INVALID",
      violations: ["type", "run_id", "graph_id", "priority", "max_attempts"].map((field) =>
        expect.objectContaining({ field }),
      ),
    });
    expect(await under.queue.getQueueDepth()).toEqual({
      waiting: 0,
      active: 0,
      paused: 0,
      dead_letter: 0,
    });
  });
}

/** Commands that every queue refuses. */
export function refusalTests(under: QueueUnderTest): void {
  test("any value that JSON cannot hold is refused by its field (S0.4)", async () => {
    const circle: Record<string, unknown> = {};
    circle["self"] = circle;
    const deep = JSON.parse("[".repeat(500) + "]".repeat(500)) as unknown;
    const bad = ["a\0b", "\ud800", circle, deep, 10n, () => 1, "x".repeat(300_000)];
    for (const value of bad) {
      await expect(under.queue.enqueue(command({ initialState: value }))).rejects.toMatchObject({
        reason: "INPUT_INVALID",
        violations: [{ field: "initial_state" }],
      });
      const response = command({ type: "resume", humanResponse: value });
      await expect(under.queue.enqueue(response)).rejects.toMatchObject({
        violations: [{ field: "human_response" }],
      });
    }
    expect(await under.queue.getQueueDepth()).toMatchObject({ waiting: 0 });
  });

  test("an invalid time is refused and an invalid claim is not found (S0.8, S0.9)", async () => {
    await under.queue.enqueue(command());
    const job = await claim(under.queue);
    for (const ms of [-1, Number.NaN, Infinity, 1e15]) {
      const invalid = { reason: "INPUT_INVALID" };
      await expect(under.queue.heartbeat(job, ms)).rejects.toMatchObject(invalid);
      await expect(under.queue.nack(job, "no", ms)).rejects.toMatchObject(invalid);
    }
    for (const claimEpoch of [Number.NaN, 0.5, Infinity])
      expect(await under.queue.ack({ jobId: job.jobId, claimEpoch })).toEqual({
        outcome: "refused",
        reason: "JOB_NOT_FOUND",
      });
    expect(await under.queue.getJob(job.jobId)).toMatchObject({ status: "active", attempts: 0 });
  });

  test("an error is kept as far as a database can hold it (S0.8, S0.12)", async () => {
    const jobId = await under.queue.enqueue(command());
    await under.queue.nack(await claim(under.queue), `a\0b\ud800${"x".repeat(10_000)}`);
    const { error } = (await under.queue.getJob(jobId)) ?? {};
    expect([error?.slice(0, 4), error?.length]).toEqual(["ab\ufffdx", 2_000]);
  });
}

/** The order of jobs, and their number. */
export function orderTests(under: QueueUnderTest): void {
  test("the lowest priority number is next, then who came first (S0.3, S0.6)", async () => {
    const ids: string[] = [];
    for (const priority of [5, 0, -5, 0, 5])
      ids.push(await under.queue.enqueue(command({ priority })));
    const order = [];
    for (
      let job = await under.queue.dequeue("w");
      job !== null;
      job = await under.queue.dequeue("w")
    )
      order.push(ids.indexOf(job.jobId));
    expect(order).toEqual([2, 1, 3, 0, 4]);
  });

  test("workers that ask at once are never given the same job (S0.2, S0.6, S0.59)", async () => {
    for (let n = 0; n < 8; n += 1) await under.queue.enqueue(command());
    const asked = Array.from({ length: 12 }, (_, n) =>
      (n % 2 === 0 ? under.queue : under.rival).dequeue(`worker-${n}`),
    );
    const claimed = (await Promise.all(asked)).filter((job) => job !== null);
    const left = [];
    for (
      let job = await under.queue.dequeue("last");
      job !== null;
      job = await under.queue.dequeue("last")
    )
      left.push(job);
    const ids = [...claimed, ...left].map((job) => job.jobId);
    expect([ids.length, new Set(ids).size]).toEqual([8, 8]);
  });

  test("depth counts waiting, active, paused and dead-letter jobs (S0.13, S0.57)", async () => {
    for (let n = 0; n < 5; n += 1) await under.queue.enqueue(command({ maxAttempts: 1 }));
    await under.queue.ack(await claim(under.queue));
    await under.queue.nack(await claim(under.queue), "x");
    await under.queue.release(await claim(under.queue));
    await claim(under.queue);
    expect(await under.queue.getQueueDepth()).toEqual({
      waiting: 1,
      active: 1,
      paused: 1,
      dead_letter: 1,
    });
  });

  test("the queue notifies a watcher when jobs begin to wait", async () => {
    let told = 0;
    const stop = under.queue.watch?.(() => {
      told += 1;
    });
    await under.queue.enqueue(command());
    await expect.poll(() => told).toBe(1);
    await under.queue.nack(await claim(under.queue), "again");
    await expect.poll(() => told).toBe(2);
    stop?.();
    await under.queue.enqueue(command());
    expect(told).toBe(2);
  });
}

/** Epochs, and unknown jobs. */
export function epochTests(under: QueueUnderTest): void {
  test("the epoch is the run's: every claim of any of its jobs takes the next one (S0.41)", async () => {
    const [one, other] = [randomUUID(), randomUUID()];
    for (const runId of [one, one, other]) await under.queue.enqueue(command({ runId }));
    const jobs = [await claim(under.queue), await claim(under.queue), await claim(under.queue)];
    expect(jobs.map((job) => job.claimEpoch)).toEqual([1, 2, 1]);
    // A later claim of the same run does not take an earlier job of it away: its own epoch is what names a claim.
    for (const job of jobs) expect(await under.queue.ack(job)).toMatchObject({ outcome: "done" });
  });

  test("a job that was never enqueued or claimed is not found (S0.12)", async () => {
    const jobId = await under.queue.enqueue(command());
    const refused = { outcome: "refused", reason: "JOB_NOT_FOUND" };
    expect([
      await under.queue.ack({ jobId, claimEpoch: 1 }),
      await under.queue.nack({ jobId: randomUUID(), claimEpoch: 1 }, "no"),
      await under.queue.release({ jobId: "nonsense", claimEpoch: 1 }),
      await under.queue.heartbeat({ jobId: "nonsense", claimEpoch: 1 }),
    ]).toEqual([refused, refused, refused, refused]);
    expect([await under.queue.getJob(randomUUID()), await under.queue.getJob("nonsense")]).toEqual([
      undefined,
      undefined,
    ]);
    expect(await statusOf(under, jobId)).toBe("waiting");
  });
}
