// Finishes removals whose scheduler died between two steps: closed threads, closed assistants, and logs of removed runs. It also finishes
// those that wait for a live run below one of their runs. Race: the command that deletes works at the same time. Each step takes rows that no
// other transaction holds, and removes what is left. A removal that fails keeps no other one waiting.

import type { Assistants } from "@pawl/platform/store/assistants/assistants";
import type { Pool } from "@pawl/platform/db/pool";
import { leftLogs, removeLogs } from "@pawl/platform/store/retention/writes";
import type { Threads } from "@pawl/platform/store/threads/threads";
import type { Logger } from "@pawl/platform/telemetry/log";
import { removeClosed } from "../commands/delete-with-runs.ts";

export interface RemovalParts {
  readonly assistants: Pick<Assistants, "closed" | "removeSome">;
  readonly threads: Pick<Threads, "closed" | "removeSome">;
  readonly pool: Pool;
  readonly log: Logger;
}

/** Logs that one sweep reads. */
const LOGS_MAX = 500;

/** Returns whether more logs wait. */
export async function sweepRemovals(parts: RemovalParts): Promise<boolean> {
  const { assistants, threads, pool, log } = parts;
  const succeeds = async (removal: Promise<void>, names: object): Promise<boolean> => {
    try {
      await removal;
      return true;
    } catch (error) {
      log.warn({ err: error, ...names }, "a removal failed; a later sweep tries it again");
      return false;
    }
  };
  for (const key of await threads.closed())
    await succeeds(removeClosed(threads, key), { thread_id: key.threadId });
  for (const key of await assistants.closed())
    await succeeds(removeClosed(assistants, key), { assistant_id: key.assistantId });
  let done = 0;
  for (const runId of await leftLogs(pool, LOGS_MAX))
    if (await succeeds(removeLogs(pool, [runId]), { run_id: runId })) done += 1;
  return done === LOGS_MAX;
}
