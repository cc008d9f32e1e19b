// Deletes temporary runs when everything that waits for their end has had time to read it: watchers, waiters, receivers of webhooks. Each goes
// in one transaction, with all its rows and the runs below it. The logs follow in pages.
//
// Race: two schedulers delete one run. The statement skips a run whose row the other holds, and finds no run that is gone. A scheduler is
// killed between the end and the deletion: the next one finds the run by its end, because nothing about it is only in memory. After a kill
// between the deletion and the last page of a log, `removals.ts` deletes the rest.

import type { RunId } from "@pawl/core/name/ids";
import { probe } from "@pawl/platform/lifecycle/probe";
import type { Journal } from "@pawl/platform/store/tick/journal";
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import type { Logger } from "@pawl/platform/telemetry/log";
import { Sweeper } from "./sweeper.ts";

/** Runs that one sweep reads, and those that one transaction deletes. */
const FOUND_MAX = 500;
const TOGETHER = 50;
/** Runs that end one after the other are deleted together, at most so much later than they could be. */
const LATE_MS = 250;

interface Timing {
  readonly intervalMs: number;
  readonly graceMs: number;
  /** Added to a time, because our clock may be ahead of the store's clock. */
  readonly slackMs: number;
}

/** `expect` is called when a tick ended temporary runs. */
export function temporarySweeper(
  { journal, log }: { readonly journal: Journal; readonly log: Logger },
  { intervalMs, graceMs, slackMs }: Timing,
): { readonly sweeper: Sweeper; readonly expect: () => void } {
  let isExpected = false;
  const wake = (afterMs: number): void => {
    if (isExpected || afterMs > intervalMs) return;
    isExpected = true;
    sweeper.soon(Math.max(LATE_MS, afterMs) + slackMs);
  };
  const duty = async (): Promise<boolean> => {
    isExpected = false;
    const found = await journal.dueTemporary({ graceMs, withinMs: intervalMs, limit: FOUND_MAX });
    const due = found.filter(({ dueInMs }) => dueInMs <= 0).map(({ runId }) => runId);
    let removed = 0;
    for (let from = 0; from < due.length; from += TOGETHER)
      removed += await removeTogether({ journal, log }, due.slice(from, from + TOGETHER));
    const next = found[due.length];
    if (next !== undefined) wake(next.dueInMs);
    return due.length === FOUND_MAX && removed > 0;
  };
  const sweeper: Sweeper = new Sweeper({ name: "temporary", intervalMs, log, duty });
  return { sweeper, expect: () => wake(graceMs) };
}

interface Parts {
  readonly journal: Pick<Journal, "deleteUnkept">;
  readonly log: Logger;
}

/** Removes runs together, or one by one if that fails: a run that cannot be removed keeps no other one. */
async function removeTogether(parts: Parts, runIds: readonly RunId[]): Promise<number> {
  try {
    return await remove(parts, runIds);
  } catch (error) {
    parts.log.warn({ err: error, runs: runIds.length }, "temporary runs are removed one by one");
  }
  let removed = 0;
  for (const runId of runIds) {
    try {
      removed += await remove(parts, [runId]);
    } catch (error) {
      const text = "a temporary run was not removed; a later sweep tries it again";
      parts.log.warn({ err: error, run_id: runId }, text);
    }
  }
  return removed;
}

async function remove({ journal }: Parts, runIds: readonly RunId[]): Promise<number> {
  probe("temporary.before-delete");
  const deleted = await journal.deleteUnkept(runIds);
  probe("temporary.after-delete");
  METRICS.temporaryDeleted.add(deleted.length);
  return deleted.length;
}
