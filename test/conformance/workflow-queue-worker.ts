// A queue worker on a real queue: parts made for each job, and jobs that rest until a person decides.

import { QueueWorker } from "@pawl/platform/queue/queue-worker";
import type { RestStatus } from "@pawl/platform/queue/queue-worker-options";
import type { ClaimedJob } from "@pawl/platform/queue/workflow-queue";
import { expect, onTestFinished, test } from "vitest";
import { until } from "../support/until.ts";
import type { QueueUnderTest } from "./workflow-queue-open.ts";
import { command, statusOf } from "./workflow-queue-setup.ts";

/** The parts that a run got. */
interface Given {
  readonly jobId: string;
  readonly persistence: string;
  readonly eventLog: string;
}

/** A worker that runs one job at a time; `restAs` says how each comes to rest. */
function startWorker(under: QueueUnderTest, restAs: (job: ClaimedJob) => RestStatus) {
  const given: Given[] = [];
  const released: string[] = [];
  const worker = new QueueWorker<string, string>({
    queue: under.queue,
    persistence: "of the worker",
    eventLog: "of the worker",
    // A writer for this claim alone: its epoch fences it.
    runnerOptionsFactory: ({ jobId, claimEpoch }) => ({ eventLog: `${jobId} ${claimEpoch}` }),
    run: async (job, parts) => {
      given.push({ jobId: job.jobId, ...parts });
      return restAs(job);
    },
  });
  worker.events.on("job:released", ({ jobId }) => released.push(jobId));
  worker.start();
  onTestFinished(() => worker.stop());
  return { given, released };
}

export function workerTests(under: QueueUnderTest): void {
  test("a worker gives each run its own parts, and the factory's parts replace them for that claim (S0.18, S0.19, S0.20)", async () => {
    const jobIds = [await under.queue.enqueue(command()), await under.queue.enqueue(command())];
    // The first claim is lost, so the worker gets the second.
    await under.rival.dequeue("dead");
    under.advance(3_600_000);
    await under.rival.reclaimExpired();
    const { given } = startWorker(under, () => "completed");
    await until(() => given.length === 2, { what: "both jobs to run" });
    const epochs = new Map(given.map(({ jobId, eventLog }) => [jobId, eventLog]));
    expect(jobIds.map((jobId) => epochs.get(jobId))).toEqual([`${jobIds[0]} 2`, `${jobIds[1]} 1`]);
    expect(given.map(({ persistence }) => persistence)).toEqual(["of the worker", "of the worker"]);
  });

  test("a job whose run waits for a person is released: it is paused, and the worker takes the next (S0.10, S0.30, S0.53)", async () => {
    const waits = await under.queue.enqueue(command());
    const next = await under.queue.enqueue(command());
    const { given, released } = startWorker(under, ({ jobId }) =>
      jobId === waits ? "waiting" : "completed",
    );
    await until(async () => (await statusOf(under, next)) === "completed", {
      what: "the next job",
    });
    expect(released).toEqual([waits]);
    expect(await statusOf(under, waits)).toBe("paused");
    expect(given.map(({ jobId }) => jobId)).toEqual([waits, next]);
    expect(await under.rival.dequeue("another")).toBeNull();
  });
}
