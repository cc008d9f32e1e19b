// The promises of every workflow queue about claims: how they end, and what becomes of their jobs.

import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { type QueueUnderTest, VISIBILITY_MS } from "./workflow-queue-open.ts";
import { claim, command, statusOf } from "./workflow-queue-setup.ts";

/** Claims that their worker ends. */
export function settleTests(under: QueueUnderTest): void {
  test("an acknowledged job is completed, and that is final (S0.7, S0.14)", async () => {
    await under.queue.enqueue(command());
    const job = await claim(under.queue);
    expect(await under.queue.ack(job)).toEqual({ outcome: "done", status: "completed" });
    const refused = { outcome: "refused", reason: "NOT_ALLOWED", status: "completed" };
    expect([
      await under.queue.ack(job),
      await under.queue.nack(job, "late"),
      await under.queue.release(job),
      await under.queue.heartbeat(job),
    ]).toEqual([refused, refused, refused, refused]);
    under.advance(VISIBILITY_MS * 2);
    expect(await under.queue.reclaimExpired()).toEqual({ waiting: 0, dead_letter: 0 });
    expect(await statusOf(under, job.jobId)).toBe("completed");
  });

  test("a failed job waits again while it has attempts, then is a dead letter for good (S0.8, S0.14, S0.56, S0.57)", async () => {
    const jobId = await under.queue.enqueue(command({ maxAttempts: 2 }));
    const first = await claim(under.queue);
    expect(await under.queue.nack(first, "boom")).toEqual({ outcome: "done", status: "waiting" });
    expect(await under.queue.getJob(jobId)).toMatchObject({ attempts: 1, error: "boom" });
    const second = await claim(under.queue);
    expect(second).toMatchObject({ jobId, attempts: 1, claimEpoch: 2 });
    expect(await under.queue.nack(second, "bang")).toEqual({
      outcome: "done",
      status: "dead_letter",
    });
    expect(await under.queue.dequeue("w")).toBeNull();
    expect(await under.queue.getJob(jobId)).toMatchObject({
      status: "dead_letter",
      attempts: 2,
      error: "bang",
    });
    expect(await under.queue.getQueueDepth()).toMatchObject({ waiting: 0, dead_letter: 1 });
    const refused = { outcome: "refused", reason: "NOT_ALLOWED", status: "dead_letter" };
    expect([await under.queue.ack(second), await under.queue.nack(second, "again")]).toEqual([
      refused,
      refused,
    ]);
  });

  test("a job that is to wait before its next try is not handed out sooner (S0.8)", async () => {
    const jobId = await under.queue.enqueue(command());
    await under.queue.nack(await claim(under.queue), "busy", 3_600_000);
    expect(await under.queue.dequeue("w")).toBeNull();
    expect(await statusOf(under, jobId)).toBe("waiting");
    expect(await under.queue.getQueueDepth()).toMatchObject({ waiting: 1 });
  });
}

/** Claims that live on, and jobs that wait for a person. */
export function pauseTests(under: QueueUnderTest): void {
  test("a heartbeat keeps the claim alive, for as long as it says (S0.9)", async () => {
    await under.queue.enqueue(command());
    const job = await claim(under.queue);
    under.advance(VISIBILITY_MS - 1);
    expect(await under.queue.heartbeat(job)).toEqual({
      outcome: "done",
      visibleUntil: job.visibleUntil + VISIBILITY_MS - 1,
    });
    under.advance(VISIBILITY_MS - 1);
    expect(await under.queue.reclaimExpired()).toEqual({ waiting: 0, dead_letter: 0 });
    await under.queue.heartbeat(job, VISIBILITY_MS * 10);
    under.advance(VISIBILITY_MS * 9);
    expect(await under.queue.reclaimExpired()).toEqual({ waiting: 0, dead_letter: 0 });
    under.advance(VISIBILITY_MS);
    expect(await under.queue.reclaimExpired()).toEqual({ waiting: 1, dead_letter: 0 });
  });

  test("a released job is paused: no attempt is counted and no worker gets it (S0.10, S0.14, S0.15)", async () => {
    const runId = randomUUID();
    const jobId = await under.queue.enqueue(command({ runId }));
    const gate = await claim(under.queue);
    expect(await under.queue.release(gate)).toEqual({ outcome: "done", status: "paused" });
    expect(await under.queue.dequeue("w")).toBeNull();
    under.advance(VISIBILITY_MS * 2);
    expect(await under.queue.reclaimExpired()).toEqual({ waiting: 0, dead_letter: 0 });
    expect(await under.queue.getJob(jobId)).toMatchObject({ status: "paused", attempts: 0 });
    expect(await under.queue.getQueueDepth()).toEqual({
      waiting: 0,
      active: 0,
      paused: 1,
      dead_letter: 0,
    });
    const refused = { outcome: "refused", reason: "NOT_ALLOWED", status: "paused" };
    expect([
      await under.queue.nack(gate, "no"),
      await under.queue.heartbeat(gate),
      await under.queue.release(gate),
    ]).toEqual([refused, refused, refused]);
  });

  test("the worker that has the person's answer acknowledges the paused job and enqueues a resume, under a newer epoch (S0.15, S0.54)", async () => {
    const runId = randomUUID();
    await under.queue.enqueue(command({ runId }));
    const gate = await claim(under.queue);
    await under.queue.release(gate);
    expect(await under.queue.ack(gate)).toEqual({ outcome: "done", status: "completed" });
    await under.queue.enqueue(command({ type: "resume", runId, humanResponse: true }));
    expect(await claim(under.queue)).toMatchObject({ type: "resume", runId, claimEpoch: 2 });
  });
}

/** Claims that are lost or let go. */
export function lossTests(under: QueueUnderTest): void {
  test("any worker takes back what a dead one held; a poisonous job ends as a dead letter (S0.2, S0.11, S0.35, S0.56)", async () => {
    const jobId = await under.queue.enqueue(command({ maxAttempts: 2 }));
    await claim(under.queue, "dies");
    expect(await under.rival.reclaimExpired()).toEqual({ waiting: 0, dead_letter: 0 });
    under.advance(VISIBILITY_MS);
    expect(await under.rival.reclaimExpired()).toEqual({ waiting: 1, dead_letter: 0 });
    expect(await claim(under.queue, "dies too")).toMatchObject({ jobId, attempts: 1 });
    under.advance(VISIBILITY_MS);
    expect(await under.rival.reclaimExpired()).toEqual({ waiting: 0, dead_letter: 1 });
    expect(await under.queue.getJob(jobId)).toMatchObject({
      status: "dead_letter",
      attempts: 2,
      error: expect.stringContaining("fell silent"),
    });
  });

  test("a claim that is let go comes back at the next reclaim, and the delivery does not count (S0.50)", async () => {
    const jobId = await under.queue.enqueue(command({ maxAttempts: 1 }));
    await under.queue.heartbeat(await claim(under.queue), 0);
    expect(await statusOf(under, jobId)).toBe("active");
    expect(await under.queue.reclaimExpired()).toEqual({ waiting: 1, dead_letter: 0 });
    expect(await claim(under.queue)).toMatchObject({ jobId, attempts: 0 });
  });

  test("a claim that was taken away changes nothing any more, before and after the next one (S0.14, S0.41, S0.44, S0.46)", async () => {
    const jobId = await under.queue.enqueue(command());
    const zombie = await claim(under.queue, "zombie");
    under.advance(VISIBILITY_MS);
    await under.queue.reclaimExpired();
    const all = async () => [
      await under.queue.ack(zombie),
      await under.queue.nack(zombie, "late"),
      await under.queue.release(zombie),
      await under.queue.heartbeat(zombie),
    ];
    const stale = (status: string) => ({ outcome: "refused", reason: "STALE_CLAIM", status });
    expect(await all()).toEqual(Array(4).fill(stale("waiting")));
    const heir = await claim(under.queue, "heir");
    expect([zombie.claimEpoch, heir.claimEpoch]).toEqual([1, 2]);
    expect(await all()).toEqual(Array(4).fill(stale("active")));
    expect(await under.queue.getJob(jobId)).toMatchObject({
      status: "active",
      workerId: "heir",
      attempts: 1,
      visibleUntil: heir.visibleUntil,
    });
    expect(await under.queue.ack(heir)).toMatchObject({ status: "completed" });
  });
}
