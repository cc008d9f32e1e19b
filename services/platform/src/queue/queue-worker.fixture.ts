// A queue worker on the queue in memory, by a clock that moves when it is told to, whose jobs end when a test says so.

import { onTestFinished } from "vitest";
import { ManualTimers, settle } from "../lifecycle/manual-timers.fixture.ts";
import { MemoryWorkflowQueue } from "./memory-workflow-queue.ts";
import type { QueueWorkerOptions, RestStatus, RunnerSignals } from "./queue-worker-options.ts";
import { QueueWorker } from "./queue-worker.ts";
import type { WorkerEventName } from "./worker-events.ts";
import type { ClaimedJob, NewCommand } from "./workflow-queue.ts";

export type Options = QueueWorkerOptions<string, string>;

/** A job under way, to be ended by the test. */
export interface Running {
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

/** A worker on a queue, with eyes on all it says and runs. */
export function crew(timers: ManualTimers, queue: MemoryWorkflowQueue, over: Partial<Options>) {
  const running: Running[] = [];
  const told: unknown[] = [];
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
    worker.events.on(name, (event) => told.push([name, ...Object.values(event)]));
  const start = async () => {
    worker.start();
    await settle();
  };
  onTestFinished(async () => {
    const stopped = worker.stop();
    // Whatever a test left running is aborted by the clock, and the worker does not wait for it.
    await timers.advance(60_000);
    await stopped;
  });
  const at = (index: number): Running => {
    const found = running[index];
    if (found === undefined) throw new Error(`there is no job ${index}`);
    return found;
  };
  return { worker, running, told, start, at };
}

export const command = (over: Partial<NewCommand> = {}): NewCommand => ({
  type: "start",
  runId: crypto.randomUUID(),
  graphId: "hello",
  ...over,
});
