// What a person may change about a command that no worker holds: cancel one that waits, redrive or discard one that was given up.
//
// Races. A worker claims a command while a person cancels it: the claim and the cancel lock the job in pg-boss, and the later one finds that
// the command has moved. Both lock the job before our row, so neither waits for the other for ever. Two persons redrive a dead letter: the
// second update finds no dead letter.

import { EngineError } from "@pawl/core/fault/engine-error";
import { isUuid } from "@pawl/core/name/ids";
import { type Queryable, run } from "../db/query.ts";
import { readRow } from "./command-reads.ts";
import * as rows from "./command-rows.ts";
import { COMMAND_QUEUE, digestId } from "./queue.ts";
import { parseData } from "./workflow-command.ts";
import { type Change, unchanged } from "./workflow-queue.ts";

/** The id under which pg-boss has a command that waits again. Each claim of a command has an epoch of its own. */
export const resentId = (row: { readonly job_id: string; readonly claim_epoch: number }): string =>
  digestId(`${row.job_id} ${row.claim_epoch}`);

/** Ends a command that waits. Also done if it is cancelled already. `db` is a transaction. */
export async function cancelCommand(
  db: Queryable,
  jobId: string,
  now: Date | null,
): Promise<Change> {
  const row = await readRow(db, jobId);
  if (row?.status === "cancelled") return { outcome: "done", status: row.status };
  if (row?.status !== "waiting") return unchanged(row?.status);
  const cancel = row.claim_epoch === 0 ? cancelUnclaimed : cancelResent;
  if (await cancel(db, row, now)) return { outcome: "done", status: "cancelled" };
  // A worker claimed it meanwhile.
  return unchanged((await readRow(db, jobId))?.status);
}

/** Lets a dead letter wait again. `sendAgain` puts it into pg-boss. `db` is a transaction. */
export async function redriveCommand(
  db: Queryable,
  asked: { readonly jobId: string; readonly redriveRequest: string; readonly now: Date | null },
  sendAgain: (row: rows.ReturnedRow) => Promise<void>,
): Promise<Change> {
  if (!isUuid(asked.jobId)) return unchanged(undefined);
  const [row] = await run(db, rows.redriveCommand, asked);
  if (row !== undefined) {
    await sendAgain(row);
    return { outcome: "done", status: row.status };
  }
  const found = await readRow(db, asked.jobId);
  if (found?.redrive_request !== asked.redriveRequest) return unchanged(found?.status);
  return { outcome: "done", status: found.status };
}

/** Closes a dead letter. Also done if it is discarded already. */
export async function discardCommand(
  db: Queryable,
  jobId: string,
  now: Date | null,
): Promise<Change> {
  if (!isUuid(jobId)) return unchanged(undefined);
  const values = { jobId, status: "discarded", from: "dead_letter", now } as const;
  const [row] = await run(db, rows.closeCommand, values);
  const status = row?.status ?? (await readRow(db, jobId))?.status;
  return status === "discarded" ? { outcome: "done", status } : unchanged(status);
}

/** Cancels a command that no worker ever claimed. Waits for a claim under way. */
async function cancelUnclaimed(
  db: Queryable,
  { job_id: jobId }: rows.CommandRow,
  now: Date | null,
): Promise<boolean> {
  const [job] = await run(db, rows.dropCommand, { queue: COMMAND_QUEUE, id: jobId });
  if (job === undefined) return false;
  const priority = 0 - job.priority;
  const parsed = parseData(job.data, { id: jobId, priority });
  // The data of a plain job may be no command.
  const about = parsed instanceof EngineError ? { runId: jobId, maxAttempts: 1 } : parsed.command;
  await run(db, rows.putCancelledCommand, {
    ...{ jobId, runId: about.runId, maxAttempts: about.maxAttempts, priority, now },
    ...{ command: JSON.stringify(job.data), enqueuedAt: job.created_on },
  });
  return true;
}

/** Cancels a command that waits again. Its job may stay in pg-boss if a worker takes it now; the worker finds our row. */
async function cancelResent(
  db: Queryable,
  row: rows.CommandRow,
  now: Date | null,
): Promise<boolean> {
  await run(db, rows.dropResentCommand, { queue: COMMAND_QUEUE, id: resentId(row) });
  const values = { jobId: row.job_id, status: "cancelled", from: "waiting", now } as const;
  return (await run(db, rows.closeCommand, values)).length > 0;
}
