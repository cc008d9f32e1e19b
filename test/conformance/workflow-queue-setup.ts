// What the tests of workflow queues share: a command to enqueue, and the next job.

import { randomUUID } from "node:crypto";
import type { ClaimedJob, NewCommand, WorkflowQueue } from "@pawl/platform/queue/workflow-queue";
import type { QueueUnderTest } from "./workflow-queue-open.ts";

export const command = (over: Partial<NewCommand> = {}): NewCommand => ({
  type: "start",
  runId: randomUUID(),
  graphId: "hello",
  ...over,
});

/** The next job, which must be there. */
export async function claim(queue: WorkflowQueue, workerId = "worker-1"): Promise<ClaimedJob> {
  const job = await queue.dequeue(workerId);
  if (job === null) throw new Error("nothing waits");
  return job;
}

/** The status of a job. */
export const statusOf = async ({ queue }: QueueUnderTest, jobId: string) =>
  (await queue.getJob(jobId))?.status;
