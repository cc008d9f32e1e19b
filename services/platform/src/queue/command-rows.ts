// The queries about commands: our rows of claimed commands, and pg-boss's jobs of waiting commands.

import { json, list, number, orNull, text, date, uuid } from "../db/columns.ts";
import { queriesBeside, type RowOf } from "../db/query.ts";
import type { CommandData } from "./workflow-command.ts";
import type { JobStatus } from "./workflow-queue.ts";

const declare = queriesBeside(import.meta.url);

const QUEUE = { queue: text() };
const NOW = { now: orNull(date()) };
const CLAIM = { jobId: uuid(), claimEpoch: number(), ...NOW };
const STATUS = { status: text<JobStatus>() };
const RETURNED = {
  ...STATUS,
  job_id: uuid(),
  command: json<CommandData>(),
  priority: number(),
  claim_epoch: number(),
};
const CLAIMED = { attempts: number(), claim_epoch: number(), visible_until: date() };
const NEW_ROW = { jobId: uuid(), priority: number(), workerId: text(), enqueuedAt: date(), ...NOW };

export const nextCommand = declare("next_command", QUEUE, { due_in_ms: orNull(number()) });
export const dropCommand = declare(
  "drop_command",
  { ...QUEUE, id: uuid() },
  { data: orNull(json<CommandData>()), priority: number(), created_on: date() },
);
export const dropResentCommand = declare("drop_resent_command", { ...QUEUE, id: uuid() });
export const countWaitingCommands = declare("count_waiting_commands", QUEUE, { count: number() });
export const claimCommand = declare(
  "claim_command",
  { ...NEW_ROW, runId: uuid(), command: text(), maxAttempts: number(), visibilityMs: number() },
  CLAIMED,
);
export const buryCommand = declare("bury_command", {
  ...NEW_ROW,
  command: orNull(text()),
  error: text(),
});
export const putCancelledCommand = declare("put_cancelled_command", {
  jobId: uuid(),
  runId: uuid(),
  command: text(),
  priority: number(),
  maxAttempts: number(),
  enqueuedAt: date(),
  ...NOW,
});
export const closeCommand = declare(
  "close_command",
  { jobId: uuid(), ...STATUS, from: text<JobStatus>(), ...NOW },
  STATUS,
);
export const redriveCommand = declare(
  "redrive_command",
  { jobId: uuid(), redriveRequest: text(), ...NOW },
  RETURNED,
);
export const settleCommand = declare(
  "settle_command",
  { ...CLAIM, ...STATUS, from: list(text<JobStatus>()) },
  STATUS,
);
export const nackCommand = declare(
  "nack_command",
  { ...CLAIM, error: text(), afterMs: number() },
  RETURNED,
);
export const extendCommand = declare(
  "extend_command",
  { ...CLAIM, extendMs: number() },
  { visible_until: date() },
);
export const anyExpiredCommand = declare("any_expired_command", NOW, { job_id: uuid() });
export const reclaimCommand = declare("reclaim_command", { ...NOW, error: text() }, RETURNED);
const COMMAND = {
  ...STATUS,
  ...CLAIMED,
  job_id: uuid(),
  worker_id: text(),
  error: orNull(text()),
  command: orNull(json<CommandData>()),
  priority: number(),
  redrive_request: orNull(text()),
  /** Microseconds since 1970, so that a place in the list is exact. */
  enqueued_us: number(),
};
export const commandRow = declare("command", { jobId: uuid(), ...QUEUE }, COMMAND);
export const listCommands = declare(
  "list_commands",
  {
    ...QUEUE,
    tenantId: text(),
    defaultTenant: text(),
    statuses: list(text<JobStatus>()),
    afterUs: number(),
    afterId: uuid(),
    limit: number(),
  },
  COMMAND,
);
export const countCommands = declare("count_commands", {}, { ...STATUS, count: number() });
export const forgetCommands = declare("forget_commands", { olderThanMs: number() });

export type CommandRow = RowOf<typeof commandRow>;
export type ReturnedRow = RowOf<typeof nackCommand>;
