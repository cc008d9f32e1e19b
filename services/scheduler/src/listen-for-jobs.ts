// Receives notifications of pauses, of queued commands, and of jobs that other schedulers queued. After a lost notification the survey of
// the queues finds the job.

import { schemasOf } from "@pawl/platform/config/settings";
import { type JobHandlers, JobListener } from "@pawl/platform/wake/jobs";
import type { Config } from "./config.ts";
import type { KnownPauses } from "./commit/pauses.ts";
import type { TickLoop } from "./tick/loop.ts";
import type { Waiting } from "./commit/waiting.ts";

export function listenForJobs(
  config: Config,
  parts: {
    readonly journal: { readonly id: string };
    readonly workflowQueue: { wake(): void };
    readonly waiting: Waiting;
    readonly known: KnownPauses;
    readonly loop: TickLoop;
  },
): JobListener {
  const { journal, workflowQueue, waiting, known, loop } = parts;
  const handlers: JobHandlers = {
    onJobs: (jobs) => {
      for (const { nodeType, delayMs } of jobs) waiting.enqueued(nodeType, delayMs);
      loop.poll();
    },
    onCommands: () => workflowQueue.wake(),
    onPauses: () => known.look(),
  };
  const url = config.DATABASE_URL.reveal();
  const listener = new JobListener(url, journal.id, handlers, schemasOf(config));
  listener.start();
  return listener;
}
