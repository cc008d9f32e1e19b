// The scheduler's worker on the workflow queue. A command takes a few milliseconds. The worker learns of new commands by notification. An
// idle scheduler also polls the queue twice a minute.

import { QueueWorker } from "@pawl/platform/queue/queue-worker";
import type { WorkflowQueue } from "@pawl/platform/queue/workflow-queue";
import { ATTRIBUTES, SPANS } from "@pawl/platform/telemetry/catalogue";
import type { Logger } from "@pawl/platform/telemetry/log";
import { contextFrom, withSpan } from "@pawl/platform/telemetry/trace";
import { setQueueDepthProvider } from "@pawl/platform/queue/job-gauges";
import type { AdmitParts } from "../commands/parts.ts";
import type { Config } from "../config.ts";
import type { TickLoop } from "../tick/loop.ts";
import { commandDelayMs, runCommand } from "../commands/run-command.ts";

const CONCURRENCY = 16;
/** A claim on a command lives for two leases. The worker renews it each third of that time. */
const LEASES = 2;
const RENEWALS = 3;
/** The worker polls this many times less often than the scheduler polls for nodes. */
const POLLS = 12;
const SWEEPS = 3;
/** How long a user can look up a finished command. */
const HISTORY_MS = 7 * 24 * 3_600_000;

/** How long a claim on a command lives without renewal. */
export const commandVisibilityMs = (config: Config): number => LEASES * config.PAWL_LEASE_MS;

/** Deletes commands that finished long ago. */
export async function forgetCommands(queue: {
  forget(olderThanMs: number): Promise<void>;
}): Promise<boolean> {
  await queue.forget(HISTORY_MS);
  return false;
}

interface CommandWorkerParts {
  readonly queue: WorkflowQueue;
  readonly parts: AdmitParts;
  readonly graceMs: number;
  readonly log: Logger;
}

/** The stores that a command reads. */
type Stores = Omit<AdmitParts, "loop">;

/** Carries out commands until it is stopped, and counts them at /metrics. */
export function startCommandWorker(
  config: Config,
  { queue, parts, graceMs, log }: CommandWorkerParts,
): QueueWorker<Stores, TickLoop> {
  const { loop, ...stores } = parts;
  const worker = new QueueWorker<Stores, TickLoop>({
    queue,
    persistence: stores,
    eventLog: loop,
    concurrency: CONCURRENCY,
    pollIntervalMs: POLLS * config.PAWL_POLL_MS,
    reclaimIntervalMs: SWEEPS * config.PAWL_SWEEP_MS,
    heartbeatIntervalMs: Math.ceil(commandVisibilityMs(config) / RENEWALS),
    shutdownGracePeriodMs: graceMs,
    retryDelayMs: commandDelayMs,
    run: (job, { persistence, eventLog }) => {
      const attributes = { [ATTRIBUTES.jobId]: job.jobId };
      // The command continues the trace of its caller, if the caller has one.
      const parent = contextFrom(job.traceparent);
      return withSpan(SPANS.command, { attributes, parent }, () =>
        runCommand({ ...persistence, loop: eventLog }, job),
      );
    },
    onError: (error) => log.warn({ err: error }, "the workflow queue could not be asked"),
  });
  const fields = (event: { readonly jobId: string; readonly error: string }) => ({
    job_id: event.jobId,
    error: event.error,
  });
  worker.events.on("job:failed", (event) => log.info(fields(event), "a command failed"));
  worker.events.on("job:dead_letter", (event) => log.warn(fields(event), "a command was given up"));
  setQueueDepthProvider(() => queue.getQueueDepth());
  worker.start();
  return worker;
}
