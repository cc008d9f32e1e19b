// What every workflow queue promises. One store for all tests of a kind, emptied before each.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ClaimedJob, NewCommand, WorkflowQueue } from "@pawl/platform/queue/workflow-queue";
import { randomUUID } from "node:crypto";
import { type OpenQueue, type QueueUnderTest, VISIBILITY_MS } from "./workflow-queue-open.ts";

const command = (over: Partial<NewCommand> = {}): NewCommand => ({
  type: "start",
  runId: randomUUID(),
  graphId: "hello",
  ...over,
});

/** The next job, which must be there. */
async function claim(queue: WorkflowQueue, workerId = "worker-1"): Promise<ClaimedJob> {
  const job = await queue.dequeue(workerId);
  if (job === null) throw new Error("nothing waits");
  return job;
}

export function workflowQueueSuite(kind: string, open: OpenQueue): void {
  describe(`the workflow queue on ${kind}`, () => {
    let under: QueueUnderTest;
    let queue: WorkflowQueue;
    beforeAll(async () => {
      under = await open();
    });
    beforeEach(async () => {
      await under.empty();
      ({ queue } = under);
    });
    afterAll(() => under.close());
    const statusOf = async (jobId: string) => (await queue.getJob(jobId))?.status;

    test("a command comes out as it went in, with its defaults (S0.4, S0.5, S0.6, S0.12)", async () => {
      const runId = randomUUID();
      const initialState = { goal: "täglich", deep: [1, null, { a: true }] };
      const jobId = await queue.enqueue(command({ runId, initialState }));
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
      expect(await queue.getJob(jobId)).toEqual({ ...waiting, command: body });
      const job = await claim(queue, "worker-7");
      const { visibleUntil } = job;
      const held = { jobId, claimEpoch: 1, workerId: "worker-7", attempts: 0, visibleUntil };
      expect(job).toEqual({ ...body, ...held });
      expect(await queue.getJob(jobId)).toEqual({
        ...held,
        status: "active",
        error: null,
        command: body,
      });
      expect(await queue.dequeue("worker-8")).toBeNull();
    });

    test("a resume carries what the person said (S0.4)", async () => {
      const humanResponse = { node_id: "gate", decision: "approve" };
      await queue.enqueue(command({ type: "resume", humanResponse }));
      expect(await claim(queue)).toMatchObject({ type: "resume", humanResponse });
    });

    test("a command that is none is refused with every field at fault and changes nothing (S0.4)", async () => {
      const bad = command({ runId: "7", graphId: "", maxAttempts: 0, priority: 0.5 });
      // As it comes from JavaScript.
      const fault = queue.enqueue({ ...bad, type: "stop" as "start" });
      await expect(fault).rejects.toMatchObject({
        reason: "INPUT_INVALID",
        violations: ["type", "run_id", "graph_id", "priority", "max_attempts"].map((field) =>
          expect.objectContaining({ field }),
        ),
      });
      expect(await queue.getQueueDepth()).toEqual({
        waiting: 0,
        active: 0,
        paused: 0,
        dead_letter: 0,
      });
    });

    test("the lowest priority number is next, then who came first (S0.3, S0.6)", async () => {
      const ids: string[] = [];
      for (const priority of [5, 0, -5, 0, 5]) ids.push(await queue.enqueue(command({ priority })));
      const order = [];
      for (let job = await queue.dequeue("w"); job !== null; job = await queue.dequeue("w"))
        order.push(ids.indexOf(job.jobId));
      expect(order).toEqual([2, 1, 3, 0, 4]);
    });

    test("workers that ask at once are never given the same job (S0.2, S0.6, S0.59)", async () => {
      for (let n = 0; n < 8; n += 1) await queue.enqueue(command());
      const asked = Array.from({ length: 12 }, (_, n) =>
        (n % 2 === 0 ? queue : under.rival).dequeue(`worker-${n}`),
      );
      const claimed = (await Promise.all(asked)).filter((job) => job !== null);
      const left = [];
      for (let job = await queue.dequeue("last"); job !== null; job = await queue.dequeue("last"))
        left.push(job);
      const ids = [...claimed, ...left].map((job) => job.jobId);
      expect([ids.length, new Set(ids).size]).toEqual([8, 8]);
    });

    test("an acknowledged job is completed, and that is final (S0.7, S0.14)", async () => {
      await queue.enqueue(command());
      const job = await claim(queue);
      expect(await queue.ack(job)).toEqual({ outcome: "done", status: "completed" });
      const refused = { outcome: "refused", reason: "NOT_ALLOWED", status: "completed" };
      expect([
        await queue.ack(job),
        await queue.nack(job, "late"),
        await queue.release(job),
        await queue.heartbeat(job),
      ]).toEqual([refused, refused, refused, refused]);
      under.advance(VISIBILITY_MS * 2);
      expect(await queue.reclaimExpired()).toEqual({ waiting: 0, dead_letter: 0 });
      expect(await statusOf(job.jobId)).toBe("completed");
    });

    test("a failed job waits again while it has attempts, then is a dead letter for good (S0.8, S0.14, S0.56, S0.57)", async () => {
      const jobId = await queue.enqueue(command({ maxAttempts: 2 }));
      const first = await claim(queue);
      expect(await queue.nack(first, "boom")).toEqual({ outcome: "done", status: "waiting" });
      expect(await queue.getJob(jobId)).toMatchObject({ attempts: 1, error: "boom" });
      const second = await claim(queue);
      expect(second).toMatchObject({ jobId, attempts: 1, claimEpoch: 2 });
      expect(await queue.nack(second, "bang")).toEqual({
        outcome: "done",
        status: "dead_letter",
      });
      expect(await queue.dequeue("w")).toBeNull();
      expect(await queue.getJob(jobId)).toMatchObject({
        status: "dead_letter",
        attempts: 2,
        error: "bang",
      });
      expect(await queue.getQueueDepth()).toMatchObject({ waiting: 0, dead_letter: 1 });
      const refused = { outcome: "refused", reason: "NOT_ALLOWED", status: "dead_letter" };
      expect([await queue.ack(second), await queue.nack(second, "again")]).toEqual([
        refused,
        refused,
      ]);
    });

    test("a job that is to wait before its next try is not handed out sooner (S0.8)", async () => {
      const jobId = await queue.enqueue(command());
      await queue.nack(await claim(queue), "busy", 3_600_000);
      expect(await queue.dequeue("w")).toBeNull();
      expect(await statusOf(jobId)).toBe("waiting");
      expect(await queue.getQueueDepth()).toMatchObject({ waiting: 1 });
    });

    test("a heartbeat keeps the claim alive, for as long as it says (S0.9)", async () => {
      await queue.enqueue(command());
      const job = await claim(queue);
      under.advance(VISIBILITY_MS - 1);
      expect(await queue.heartbeat(job)).toEqual({
        outcome: "done",
        visibleUntil: job.visibleUntil + VISIBILITY_MS - 1,
      });
      under.advance(VISIBILITY_MS - 1);
      expect(await queue.reclaimExpired()).toEqual({ waiting: 0, dead_letter: 0 });
      await queue.heartbeat(job, VISIBILITY_MS * 10);
      under.advance(VISIBILITY_MS * 9);
      expect(await queue.reclaimExpired()).toEqual({ waiting: 0, dead_letter: 0 });
      under.advance(VISIBILITY_MS);
      expect(await queue.reclaimExpired()).toEqual({ waiting: 1, dead_letter: 0 });
    });

    test("a released job is paused: no attempt is counted and nobody is given it (S0.10, S0.14, S0.15)", async () => {
      const runId = randomUUID();
      const jobId = await queue.enqueue(command({ runId }));
      const gate = await claim(queue);
      expect(await queue.release(gate)).toEqual({ outcome: "done", status: "paused" });
      expect(await queue.dequeue("w")).toBeNull();
      under.advance(VISIBILITY_MS * 2);
      expect(await queue.reclaimExpired()).toEqual({ waiting: 0, dead_letter: 0 });
      expect(await queue.getJob(jobId)).toMatchObject({ status: "paused", attempts: 0 });
      expect(await queue.getQueueDepth()).toEqual({
        waiting: 0,
        active: 0,
        paused: 1,
        dead_letter: 0,
      });
      const refused = { outcome: "refused", reason: "NOT_ALLOWED", status: "paused" };
      expect([
        await queue.nack(gate, "no"),
        await queue.heartbeat(gate),
        await queue.release(gate),
      ]).toEqual([refused, refused, refused]);
    });

    test("whoever answers the person clears the paused job away and sends a resume, under a newer epoch (S0.15, S0.54)", async () => {
      const runId = randomUUID();
      await queue.enqueue(command({ runId }));
      const gate = await claim(queue);
      await queue.release(gate);
      expect(await queue.ack(gate)).toEqual({ outcome: "done", status: "completed" });
      await queue.enqueue(command({ type: "resume", runId, humanResponse: true }));
      expect(await claim(queue)).toMatchObject({ type: "resume", runId, claimEpoch: 2 });
    });

    test("any worker takes back what a dead one held; a poisonous job ends as a dead letter (S0.2, S0.11, S0.35, S0.56)", async () => {
      const jobId = await queue.enqueue(command({ maxAttempts: 2 }));
      await claim(queue, "dies");
      expect(await under.rival.reclaimExpired()).toEqual({ waiting: 0, dead_letter: 0 });
      under.advance(VISIBILITY_MS);
      expect(await under.rival.reclaimExpired()).toEqual({ waiting: 1, dead_letter: 0 });
      expect(await claim(queue, "dies too")).toMatchObject({ jobId, attempts: 1 });
      under.advance(VISIBILITY_MS);
      expect(await under.rival.reclaimExpired()).toEqual({ waiting: 0, dead_letter: 1 });
      expect(await queue.getJob(jobId)).toMatchObject({
        status: "dead_letter",
        attempts: 2,
        error: expect.stringContaining("fell silent"),
      });
    });

    test("a claim that is let go comes back at the next reclaim, and the delivery does not count (S0.50)", async () => {
      const jobId = await queue.enqueue(command({ maxAttempts: 1 }));
      await queue.heartbeat(await claim(queue), 0);
      expect(await statusOf(jobId)).toBe("active");
      expect(await queue.reclaimExpired()).toEqual({ waiting: 1, dead_letter: 0 });
      expect(await claim(queue)).toMatchObject({ jobId, attempts: 0 });
    });

    test("a claim that was taken away changes nothing any more, before and after the next one (S0.14, S0.41, S0.44, S0.46)", async () => {
      const jobId = await queue.enqueue(command());
      const zombie = await claim(queue, "zombie");
      under.advance(VISIBILITY_MS);
      await queue.reclaimExpired();
      const all = async () => [
        await queue.ack(zombie),
        await queue.nack(zombie, "late"),
        await queue.release(zombie),
        await queue.heartbeat(zombie),
      ];
      const stale = (status: string) => ({ outcome: "refused", reason: "STALE_CLAIM", status });
      expect(await all()).toEqual(Array(4).fill(stale("waiting")));
      const heir = await claim(queue, "heir");
      expect([zombie.claimEpoch, heir.claimEpoch]).toEqual([1, 2]);
      expect(await all()).toEqual(Array(4).fill(stale("active")));
      expect(await queue.getJob(jobId)).toMatchObject({
        status: "active",
        workerId: "heir",
        attempts: 1,
        visibleUntil: heir.visibleUntil,
      });
      expect(await queue.ack(heir)).toMatchObject({ status: "completed" });
    });

    test("the epoch is the run's: every claim of any of its jobs takes the next one (S0.41)", async () => {
      const [one, other] = [randomUUID(), randomUUID()];
      for (const runId of [one, one, other]) await queue.enqueue(command({ runId }));
      const jobs = [await claim(queue), await claim(queue), await claim(queue)];
      expect(jobs.map((job) => job.claimEpoch)).toEqual([1, 2, 1]);
      // A later claim of the same run does not take an earlier job of it away: its own epoch is what names a claim.
      for (const job of jobs) expect(await queue.ack(job)).toMatchObject({ outcome: "done" });
    });

    test("a job that nobody ever enqueued or claimed is not found (S0.12)", async () => {
      const jobId = await queue.enqueue(command());
      const refused = { outcome: "refused", reason: "JOB_NOT_FOUND" };
      expect([
        await queue.ack({ jobId, claimEpoch: 1 }),
        await queue.nack({ jobId: randomUUID(), claimEpoch: 1 }, "no"),
        await queue.release({ jobId: "nonsense", claimEpoch: 1 }),
        await queue.heartbeat({ jobId: "nonsense", claimEpoch: 1 }),
      ]).toEqual([refused, refused, refused, refused]);
      expect([await queue.getJob(randomUUID()), await queue.getJob("nonsense")]).toEqual([
        undefined,
        undefined,
      ]);
      expect(await statusOf(jobId)).toBe("waiting");
    });

    test("depth counts what waits, is active, paused and given up (S0.13, S0.57)", async () => {
      for (let n = 0; n < 5; n += 1) await queue.enqueue(command({ maxAttempts: 1 }));
      await queue.ack(await claim(queue));
      await queue.nack(await claim(queue), "x");
      await queue.release(await claim(queue));
      await claim(queue);
      expect(await queue.getQueueDepth()).toEqual({
        waiting: 1,
        active: 1,
        paused: 1,
        dead_letter: 1,
      });
    });

    test("whoever watches is told when jobs begin to wait", async () => {
      let told = 0;
      const stop = queue.watch?.(() => {
        told += 1;
      });
      await queue.enqueue(command());
      await expect.poll(() => told).toBe(1);
      await queue.nack(await claim(queue), "again");
      await expect.poll(() => told).toBe(2);
      stop?.();
      await queue.enqueue(command());
      expect(told).toBe(2);
    });
  });
}
