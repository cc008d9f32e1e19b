// The promises of every workflow queue about what a person changes, about delays and ids of new commands, and about the list of jobs.

import { randomUUID } from "node:crypto";
import { JOB_STATUSES } from "@pawl/platform/queue/workflow-queue";
import { expect, test } from "vitest";
import { type QueueUnderTest, VISIBILITY_MS } from "./workflow-queue-open.ts";
import { claim, command, statusOf } from "./workflow-queue-setup.ts";

const HOUR_MS = 3_600_000;

/** A job that was given up. */
async function deadJob({ queue }: QueueUnderTest): Promise<string> {
  const jobId = await queue.enqueue(command({ maxAttempts: 1 }));
  await queue.nack(await claim(queue), "boom");
  return jobId;
}

/** Jobs that a person cancels, redrives or discards. */
export function changeTests(under: QueueUnderTest): void {
  test("a cancelled job is never claimed, whether it waits for the first time, for its delay or again", async () => {
    const fresh = await under.queue.enqueue(command());
    expect(await under.queue.cancel(fresh)).toEqual({ outcome: "done", status: "cancelled" });
    const delayed = await under.queue.enqueue(command(), { delayMs: HOUR_MS });
    expect(await under.queue.cancel(delayed)).toMatchObject({ status: "cancelled" });
    const again = await under.queue.enqueue(command());
    await under.queue.nack(await claim(under.queue), "boom");
    expect(await under.queue.cancel(again)).toMatchObject({ status: "cancelled" });
    expect(await under.queue.cancel(again)).toEqual({ outcome: "done", status: "cancelled" });
    expect(await under.queue.dequeue("w")).toBeNull();
    expect(await under.queue.getQueueDepth()).toMatchObject({ waiting: 0, dead_letter: 0 });
    expect(await under.queue.getJob(again)).toMatchObject({ status: "cancelled", error: "boom" });
  });

  test("a claimed or finished job is not cancelled, and an unknown one is not found", async () => {
    const jobId = await under.queue.enqueue(command());
    const job = await claim(under.queue);
    const refused = { outcome: "refused", reason: "NOT_ALLOWED" };
    expect(await under.queue.cancel(jobId)).toEqual({ ...refused, status: "active" });
    await under.queue.ack(job);
    expect(await under.queue.cancel(jobId)).toEqual({ ...refused, status: "completed" });
    const missing = { outcome: "refused", reason: "JOB_NOT_FOUND" };
    for (const unknown of [randomUUID(), "nonsense"])
      expect([
        await under.queue.cancel(unknown),
        await under.queue.discard(unknown),
        await under.queue.redrive(unknown, "r"),
      ]).toEqual([missing, missing, missing]);
  });

  test("of workers that claim and persons that cancel at once, exactly one gets each job", async () => {
    const ids: string[] = [];
    for (let n = 0; n < 8; n += 1) ids.push(await under.queue.enqueue(command()));
    const cancels = Promise.all(ids.map((jobId) => under.rival.cancel(jobId)));
    const claims = Promise.all(ids.map(() => under.queue.dequeue("w")));
    const cancelled = (await cancels).filter(({ outcome }) => outcome === "done").length;
    const claimed = (await claims).filter((job) => job !== null).length;
    let left = 0;
    while ((await under.queue.dequeue("w")) !== null) left += 1;
    expect(cancelled + claimed + left).toBe(8);
    expect(await under.queue.getQueueDepth()).toMatchObject({ waiting: 0, active: claimed + left });
  });
}

/** Jobs that were given up, and commands with an id, a text and a trace. */
export function redriveTests(under: QueueUnderTest): void {
  test("a redriven job waits again with all its attempts; a repeat of the request changes nothing (S0.56)", async () => {
    const jobId = await deadJob(under);
    expect(await under.queue.redrive(jobId, "r1")).toEqual({ outcome: "done", status: "waiting" });
    expect(await under.queue.getJob(jobId)).toMatchObject({ attempts: 0, error: "boom" });
    const job = await claim(under.queue);
    expect(job).toMatchObject({ jobId, attempts: 0, claimEpoch: 2 });
    expect(await under.queue.redrive(jobId, "r1")).toEqual({ outcome: "done", status: "active" });
    await under.queue.nack(job, "bang");
    expect(await statusOf(under, jobId)).toBe("dead_letter");
    expect(await under.queue.redrive(jobId, "r2")).toMatchObject({ status: "waiting" });
    expect(await under.queue.cancel(jobId)).toMatchObject({ status: "cancelled" });
  });

  test("a discarded job is closed for good (S0.56, S0.57)", async () => {
    const jobId = await deadJob(under);
    expect(await under.queue.discard(jobId)).toEqual({ outcome: "done", status: "discarded" });
    expect(await under.queue.discard(jobId)).toEqual({ outcome: "done", status: "discarded" });
    const refused = { outcome: "refused", reason: "NOT_ALLOWED", status: "discarded" };
    expect(await under.queue.redrive(jobId, "r")).toEqual(refused);
    expect(await under.queue.getQueueDepth()).toMatchObject({ dead_letter: 0 });
    const waiting = await under.queue.enqueue(command());
    expect(await under.queue.discard(waiting)).toEqual({ ...refused, status: "waiting" });
  });

  test("a second command under the id of a job changes nothing, in every state of the job", async () => {
    const jobId = randomUUID();
    const first = command({ priority: 1 });
    for (const body of [first, command()]) await under.queue.enqueue(body, { jobId });
    const job = await claim(under.queue);
    expect(job).toMatchObject({ jobId, runId: first.runId });
    await under.queue.enqueue(command(), { jobId });
    expect(await under.queue.dequeue("w")).toBeNull();
    await under.queue.ack(job);
    await under.queue.enqueue(command(), { jobId });
    expect(await under.queue.dequeue("w")).toBeNull();
    expect(await statusOf(under, jobId)).toBe("completed");
  });

  test("a command keeps the text of its input and the trace of its caller (S0.4)", async () => {
    const traceparent = "00-1af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const inputJson = '{"b": 1.50, "a": 1.0}';
    await under.queue.enqueue(command({ inputJson, traceparent }));
    expect(await claim(under.queue)).toMatchObject({ inputJson, traceparent });
    await expect(under.queue.enqueue(command({ inputJson: "{" }))).rejects.toMatchObject({
      violations: [{ field: "input_json" }],
    });
  });
}

/** The list of jobs. */
export function listTests(under: QueueUnderTest): void {
  test("jobs are listed newest first, by status and in pages, with the time when a waiting one is due", async () => {
    const ids: string[] = [];
    for (let n = 0; n < 6; n += 1) ids.push(await under.queue.enqueue(command({ maxAttempts: 1 })));
    await under.queue.ack(await claim(under.queue));
    await under.queue.nack(await claim(under.queue), "x");
    await under.queue.cancel(ids[5] ?? "");
    const list = async (statuses: typeof JOB_STATUSES | readonly ["waiting"], limit: number) => {
      const found: string[] = [];
      let after = "";
      for (;;) {
        const asked = { tenantId: "default", statuses, after, limit };
        const page = await under.queue.listJobs(asked);
        if (page.length === 0) return found;
        found.push(...page.map(({ jobId, status }) => `${status} ${ids.indexOf(jobId)}`));
        after = page.at(-1)?.place ?? "";
      }
    };
    const waiting = ["waiting 4", "waiting 3", "waiting 2"];
    expect(await list(JOB_STATUSES, 4)).toEqual([
      "cancelled 5",
      ...waiting,
      "dead_letter 1",
      "completed 0",
    ]);
    expect(await list(["waiting"], 1)).toEqual(waiting);
    const other = { tenantId: "acme", statuses: JOB_STATUSES, after: "", limit: 10 };
    expect(await under.queue.listJobs(other)).toEqual([]);
  });

  test("a job that waits is listed with the time when it is due, and others without one", async () => {
    await under.queue.enqueue(command());
    const job = await claim(under.queue);
    const asked = { tenantId: "default", statuses: JOB_STATUSES, after: "", limit: 10 };
    expect(await under.queue.listJobs(asked)).toMatchObject([{ jobId: job.jobId, dueAt: null }]);
    await under.queue.nack(job, "later", HOUR_MS);
    const [listed] = await under.queue.listJobs(asked);
    const beginning = job.visibleUntil - VISIBILITY_MS;
    expect(listed).toMatchObject({ status: "waiting", dueAt: beginning + HOUR_MS });
    await under.queue.cancel(job.jobId);
    const delayed = await under.queue.enqueue(command(), { delayMs: HOUR_MS });
    const [newest] = await under.queue.listJobs(asked);
    expect(newest?.jobId).toBe(delayed);
    expect((newest?.dueAt ?? 0) - (newest?.enqueuedAt ?? 0)).toBe(HOUR_MS);
  });
}
