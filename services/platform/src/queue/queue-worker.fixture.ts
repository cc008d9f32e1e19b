// A queue worker on the queue in memory. A test moves its clock and ends its jobs.

import { onTestFinished } from "vitest";
import { ManualTimers, settle } from "../lifecycle/manual-timers.fixture.ts";
import { MemoryWorkflowQueue } from "./memory-workflow-queue.fixture.ts";
import type { QueueWorkerOptions, RestStatus, RunnerSignals } from "./queue-worker-options.ts";
import { QueueWorker } from "./queue-worker.ts";
import type { WorkerEventName } from "./worker-events.ts";
import type { ClaimedJob, NewCommand } from "./workflow-queue.ts";

export type Options = QueueWorkerOptions<string, string>;

/** A job under way; the test ends it. */
interface Running {
  readonly job: ClaimedJob;
  readonly given: unknown;
  readonly signals: RunnerSignals;
  readonly rest: (status: RestStatus) => Promise<void>;
  readonly fail: (error: unknown) => Promise<void>;
}

const EVENTS: readonly WorkerEventName[] = [
  "worker:started",
  "worker:stopped",
  "job:claimed",
  "job:completed",
  "job:failed",
  "job:released",
  "job:dead_letter",
  "job:claim_lost",
];

export function setup(over: Partial<Options> = {}) {
  const timers = new ManualTimers();
  const queue = new MemoryWorkflowQueue({ now: timers.now });
  return { timers, queue, ...crew(timers, queue, over) };
}

/** A worker on a queue, with a record of its events and jobs. */
export function crew(timers: ManualTimers, queue: MemoryWorkflowQueue, over: Partial<Options>) {
  const running: Running[] = [];
  const emitted: unknown[] = [];
  const worker = new QueueWorker<string, string>({
    workerId: "worker-1",
    queue,
    persistence: "snapshots",
    eventLog: "log",
    timers,
    run: (job, given, signals) => {
      const { promise, resolve, reject } = Promise.withResolvers<RestStatus>();
      running.push({
        job,
        given,
        signals,
        rest: (status) => (resolve(status), settle()),
        fail: (error) => (reject(error), settle()),
      });
      return promise;
    },
    ...over,
  });
  for (const name of EVENTS)
    worker.events.on(name, (event) => emitted.push([name, ...Object.values(event)]));
  const start = async () => {
    worker.start();
    await settle();
  };
  onTestFinished(async () => {
    const stopped = worker.stop();
    // The clock aborts jobs that a test left running, and the worker does not wait for them.
    await timers.advance(60_000);
    await stopped;
  });
  const at = (index: number): Running => {
    const found = running[index];
    if (found === undefined) throw new Error(`there is no job ${index}`);
    return found;
  };
  return { worker, running, emitted, start, at };
}

export const command = (over: Partial<NewCommand> = {}): NewCommand => ({
  type: "start",
  runId: crypto.randomUUID(),
  graphId: "hello",
  ...over,
});
