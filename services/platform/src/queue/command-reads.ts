// Reads commands of the workflow queue: one, a list, and how many there are. A gateway uses these functions without pg-boss.

import { EngineError } from "@pawl/core/fault/engine-error";
import { isUuid } from "@pawl/core/name/ids";
import { DEFAULT_TENANT } from "@pawl/core/name/tenant";
import { type Queryable, run } from "../db/query.ts";
import * as rows from "./command-rows.ts";
import { COMMAND_QUEUE } from "./queue.ts";
import { parseData } from "./workflow-command.ts";
import type { JobCounts, JobQuestion, ListedJob } from "./workflow-queue.ts";

/** The place before the newest command: later than any time, and behind any id. */
const BEGIN = { us: 2 ** 53 - 1, id: "ffffffff-ffff-ffff-ffff-ffffffffffff" };
const PLACE = /^(\d{1,16}) ([0-9a-f-]{36})$/;

/** Whether a text is the place of a command in the list. */
export const isPlace = (text: string): boolean => {
  const [, us = "", id = ""] = PLACE.exec(text) ?? [];
  return text === "" || (Number.isSafeInteger(Number(us)) && isUuid(id));
};

/** A command with its state. @throws STORE_UNAVAILABLE */
export async function readCommand(db: Queryable, jobId: string): Promise<ListedJob | undefined> {
  const row = await readRow(db, jobId);
  return row && listed(row);
}

/** The row of a command. @throws STORE_UNAVAILABLE */
export async function readRow(db: Queryable, jobId: string): Promise<rows.CommandRow | undefined> {
  if (!isUuid(jobId)) return undefined;
  const [row] = await run(db, rows.commandRow, { jobId, queue: COMMAND_QUEUE });
  return row;
}

/** Commands of these statuses behind a place, the newest first. @throws STORE_UNAVAILABLE */
export async function readCommands(
  db: Queryable,
  { tenantId, statuses, after, limit }: JobQuestion,
): Promise<ListedJob[]> {
  const [, us = BEGIN.us, afterId = BEGIN.id] = PLACE.exec(after) ?? [];
  const found = await run(db, rows.listCommands, {
    ...{ queue: COMMAND_QUEUE, tenantId, defaultTenant: DEFAULT_TENANT, statuses, limit },
    ...{ afterUs: Number(us), afterId },
  });
  return found.map(listed);
}

/** How many commands wait, are claimed, are paused or are dead letters. @throws STORE_UNAVAILABLE */
export async function countCommands(db: Queryable): Promise<JobCounts> {
  const [counts, [ready]] = await Promise.all([
    run(db, rows.countCommands, {}),
    run(db, rows.countWaitingCommands, { queue: COMMAND_QUEUE }),
  ]);
  const none = { active: 0, paused: 0, dead_letter: 0 };
  const found = Object.fromEntries(counts.map(({ status, count }) => [status, count]));
  return { ...none, ...found, waiting: ready?.count ?? 0 };
}

function listed(row: rows.CommandRow): ListedJob {
  const { job_id: jobId, status, attempts, claim_epoch: claimEpoch, error, priority } = row;
  const parsed = parseData(row.command, { id: jobId, priority });
  const until = row.visible_until.getTime();
  return {
    ...{ jobId, status, attempts, claimEpoch, error },
    command: parsed instanceof EngineError ? null : parsed.command,
    workerId: row.worker_id === "" ? null : row.worker_id,
    visibleUntil: status === "active" ? until : null,
    dueAt: status === "waiting" ? until : null,
    enqueuedAt: Math.floor(row.enqueued_us / 1_000),
    place: `${row.enqueued_us} ${jobId}`,
  };
}
