// Takes hints of jobs that other schedulers queued, and of commands that anybody did. A lost hint costs a look at the queues.

import { JobListener } from "@pawl/platform/wake/jobs";
import type { Config } from "./config.ts";
import type { KnownPauses } from "./pause/known-pauses.ts";
import type { TickLoop } from "./tick/loop.ts";
import type { Waiting } from "./tick/waiting.ts";

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
  const listener = new JobListener(config.DATABASE_URL.reveal(), journal.id, {
    onJobs: (hints) => {
      for (const { nodeType, delayMs } of hints) waiting.enqueued(nodeType, delayMs);
      loop.nudge();
    },
    onCommands: () => workflowQueue.wake(),
    onPauses: () => known.look(),
  });
  listener.start();
  return listener;
}
