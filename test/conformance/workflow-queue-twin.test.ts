// The same random history on both workflow queues: after every step both have given the same answer and every job has the same status.

import { unreachable } from "@pawl/core/fault/invariant";
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ClaimedJob, JOB_STATUSES } from "@pawl/platform/queue/workflow-queue";
import {
  type BossUnderTest,
  openBossQueue,
  openMemoryQueue,
  type QueueUnderTest,
  VISIBILITY_MS,
} from "./workflow-queue-open.ts";

fc.configureGlobal({ seed: 1 });

const HISTORIES = 25;

const enqueue = fc.record({
  kind: fc.constant("enqueue"),
  run: fc.nat(2),
  priority: fc.integer({ min: -1, max: 1 }),
  maxAttempts: fc.integer({ min: 1, max: 3 }),
});
/** `claim` chooses among all that were ever handed out, so live and stale ones alike. */
const settle = fc.record({
  kind: fc.constantFrom("ack", "nack", "release", "heartbeat", "letGo"),
  claim: fc.nat(30),
});
/** `job` chooses among all that were ever enqueued. */
const change = fc.record({
  kind: fc.constantFrom("cancel", "redrive", "discard"),
  job: fc.nat(30),
});
const operation = fc.oneof(
  { weight: 3, arbitrary: enqueue },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("dequeue"), worker: fc.nat(2) }) },
  { weight: 5, arbitrary: settle },
  { weight: 2, arbitrary: change },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("advance"), ms: fc.nat(VISIBILITY_MS) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("reclaim") }) },
);
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

/** One of the two, and what it handed out so far. */
interface Side {
  readonly under: QueueUnderTest;
  readonly claims: ClaimedJob[];
  readonly jobIds: string[];
}

const runIdOf = (run: number): string => `00000000-0000-7000-8000-00000000000${run}`;

async function act({ under, claims, jobIds }: Side, op: Operation): Promise<unknown> {
  const { queue } = under;
  switch (op.kind) {
    case "enqueue": {
      const { run, priority, maxAttempts } = op;
      const given = { runId: runIdOf(run), graphId: "g", initialState: { run } };
      const jobId = await queue.enqueue({ type: "start", ...given, priority, maxAttempts });
      jobIds.push(jobId);
      return jobId;
    }
    case "dequeue": {
      const job = await queue.dequeue(`worker-${op.worker}`);
      if (job !== null) claims.push(job);
      return job;
    }
    case "advance":
      under.advance(op.ms);
      return undefined;
    case "reclaim":
      return await queue.reclaimExpired();
    case "cancel":
      return await queue.cancel(jobIdOf(jobIds, op));
    case "discard":
      return await queue.discard(jobIdOf(jobIds, op));
    case "redrive":
      // Few request ids, so some redrives are repeats.
      return await queue.redrive(jobIdOf(jobIds, op), `request-${op.job % 2}`);
    case "ack":
    case "nack":
    case "release":
    case "heartbeat":
    case "letGo":
      return await settleOne(queue, claims, op);
    default:
      return unreachable(op, "operation");
  }
}

const NO_JOB = "00000000-0000-4000-8000-00000000ffff";
const jobIdOf = (jobIds: readonly string[], { job }: { readonly job: number }): string =>
  jobIds.at(job % Math.max(1, jobIds.length)) ?? NO_JOB;

async function settleOne(
  queue: QueueUnderTest["queue"],
  claims: readonly ClaimedJob[],
  { kind, claim: index }: Extract<Operation, { readonly claim: number }>,
): Promise<unknown> {
  const claim = claims.at(index % Math.max(1, claims.length));
  if (claim === undefined) return "nothing was claimed yet";
  if (kind === "ack") return await queue.ack(claim);
  if (kind === "nack") return await queue.nack(claim, "no");
  if (kind === "release") return await queue.release(claim);
  return await queue.heartbeat(claim, kind === "letGo" ? 0 : undefined);
}

const ALL = { tenantId: "default", statuses: JOB_STATUSES, after: "", limit: 100 };

const picture = async ({ under: { queue }, jobIds }: Side) => ({
  depth: await queue.getQueueDepth(),
  jobs: await Promise.all(jobIds.map((jobId) => queue.getJob(jobId))),
  listed: (await queue.listJobs(ALL)).map(({ jobId, status }) => [jobId, status]),
});

/** The transitions a job may make; itself is always among them. */
const MAY: Readonly<Record<string, readonly string[]>> = {
  waiting: ["active", "cancelled"],
  active: ["completed", "waiting", "paused", "dead_letter"],
  paused: ["completed"],
  completed: [],
  dead_letter: ["waiting", "discarded"],
  cancelled: [],
  discarded: [],
};

let memory: QueueUnderTest;
let boss: BossUnderTest;
beforeAll(async () => {
  [memory, boss] = [await openMemoryQueue(), await openBossQueue()];
});
afterAll(() => boss.close());

test("any history leaves memory and Postgres alike after every step, by allowed transitions only (S0.14, S0.46, S0.59, S0.60)", async () => {
  const history = fc.array(operation, { minLength: 10, maxLength: 30, size: "max" });
  const property = fc.asyncProperty(history, async (operations) => {
    await Promise.all([memory.empty(), boss.empty()]);
    const sides = [memory, boss].map((under): Side => ({ under, claims: [], jobIds: [] }));
    const [ours, theirs] = sides as [Side, Side];
    let before = new Map<string, string>();
    for (const op of operations) {
      const expected = await act(ours, op);
      expect(await act(theirs, op), JSON.stringify(op)).toEqual(expected);
      const seen = await picture(ours);
      expect(await picture(theirs), JSON.stringify(op)).toEqual(seen);
      const now = new Map(seen.jobs.map((job) => [job?.jobId ?? "", job?.status ?? ""]));
      for (const [jobId, status] of now) {
        const was = before.get(jobId) ?? "waiting";
        expect([was, ...(MAY[was] ?? [])], `${was} to ${status}`).toContain(status);
      }
      before = now;
    }
  });
  await fc.assert(property, { numRuns: HISTORIES });
});

test("a plain job of pg-boss whose data is a command is one; any other is a dead letter (S0.3, S0.4)", async () => {
  await boss.empty();
  const { queue } = boss;
  const odd = await boss.boss.send("commands", { type: "dance" }, { priority: 9 });
  const plain = await boss.boss.send("commands", { type: "start", graph_id: "nightly" });
  expect(await queue.getJob(plain ?? "")).toMatchObject({ status: "waiting" });
  const job = await queue.dequeue("worker");
  // The command has no run id. The queue takes the id of the job instead, so that every delivery names the same run.
  expect(job).toMatchObject({ jobId: plain, runId: plain, graphId: "nightly", priority: 0 });
  expect(await queue.getJob(odd ?? "")).toMatchObject({
    status: "dead_letter",
    command: null,
    error: expect.stringContaining("type must be start or resume"),
  });
  expect(await queue.getQueueDepth()).toEqual({
    waiting: 0,
    active: 1,
    paused: 0,
    dead_letter: 1,
  });
  expect(await queue.dequeue("worker")).toBeNull();
});

test("the queue wakes its watchers when a delayed command is due, and wakes none while it is empty", async () => {
  await boss.empty();
  const { queue } = boss;
  let woken = 0;
  const stop = queue.watch?.(() => {
    woken += 1;
  });
  // Longer than the shortest timer.
  const until = performance.now() + 50;
  while (performance.now() < until) expect(await queue.dequeue("worker")).toBeNull();
  expect(woken).toBe(0);
  const command = { type: "start", runId: runIdOf(0), graphId: "g" } as const;
  const jobId = await queue.enqueue(command, { delayMs: 100 });
  await expect.poll(() => woken).toBe(1);
  expect(await queue.dequeue("worker")).toMatchObject({ jobId });
  // Another process enqueued this one, so only the poll learns when it is due.
  await boss.rival.enqueue({ ...command, runId: runIdOf(1) }, { delayMs: 700 });
  expect(await queue.dequeue("worker")).toBeNull();
  await expect.poll(() => woken).toBe(2);
  stop?.();
});

test("a crash between taking a job from pg-boss and noting the claim leaves it waiting (S0.2, S0.59)", async () => {
  await boss.empty();
  const { queue } = boss;
  // The claim's statement fails, as a lost connection would: a worker id cannot hold a NUL.
  const jobId = await queue.enqueue({ type: "start", runId: runIdOf(0), graphId: "g" });
  await expect(queue.dequeue("worker\0")).rejects.toThrow();
  expect(await queue.getJob(jobId)).toMatchObject({ status: "waiting", attempts: 0 });
  expect(await queue.dequeue("worker")).toMatchObject({ jobId, claimEpoch: 1 });
});
