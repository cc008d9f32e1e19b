// The queries about commands: our rows of those that were claimed, and pg-boss's jobs of those that wait.

import { json, number, orNull, text, time, uuid } from "../db/columns.ts";
import { queriesBeside, type RowOf } from "../db/query.ts";
import type { CommandData } from "./workflow-command.ts";
import type { JobStatus } from "./workflow-queue.ts";

const declare = queriesBeside(import.meta.url);

const NOW = { now: orNull(time()) };
const CLAIM = { jobId: uuid(), claimEpoch: number(), ...NOW };
const STATUS = { status: text<JobStatus>() };
const RETURNED = { ...STATUS, job_id: uuid(), command: json<CommandData>(), priority: number() };

export const anyReadyCommand = declare("any_ready_command", { queue: text() }, { id: uuid() });
export const countWaitingCommands = declare(
  "count_waiting_commands",
  { queue: text() },
  { count: number() },
);
export const claimCommand = declare(
  "claim_command",
  {
    jobId: uuid(),
    runId: uuid(),
    command: text(),
    priority: number(),
    maxAttempts: number(),
    workerId: text(),
    ...NOW,
    visibilityMs: number(),
    enqueuedAt: time(),
  },
  { attempts: number(), claim_epoch: number(), visible_until: time() },
);
export const buryCommand = declare("bury_command", {
  jobId: uuid(),
  command: orNull(text()),
  priority: number(),
  workerId: text(),
  error: text(),
  ...NOW,
  enqueuedAt: time(),
});
export const ackCommand = declare("ack_command", CLAIM, STATUS);
export const nackCommand = declare("nack_command", { ...CLAIM, error: text() }, RETURNED);
export const extendCommand = declare(
  "extend_command",
  { ...CLAIM, extendMs: number() },
  { visible_until: time() },
);
export const releaseCommand = declare("release_command", CLAIM, STATUS);
export const anyExpiredCommand = declare("any_expired_command", NOW, { job_id: uuid() });
export const reclaimCommand = declare("reclaim_command", { ...NOW, error: text() }, RETURNED);
export const commandRow = declare(
  "command",
  { jobId: uuid() },
  {
    ...STATUS,
    attempts: number(),
    claim_epoch: number(),
    worker_id: text(),
    visible_until: time(),
    error: orNull(text()),
    command: json<CommandData>(),
    priority: number(),
  },
);
export const countCommands = declare("count_commands", {}, { ...STATUS, count: number() });
export const forgetCommands = declare("forget_commands", { olderThanMs: number() });

export type CommandRow = RowOf<typeof commandRow>;
export type ReturnedRow = RowOf<typeof nackCommand>;
