// The workflow queue on Postgres: pg-boss delivers, orders and delays what waits; our own table says who holds what under
// which epoch, and keeps what pg-boss has no word for (paused, a delivery that was let go, a claim longer than a day).
//
// A job is in pg-boss exactly while it waits. Claiming takes it out there and notes the claim here, in one transaction; a job
// that comes back is sent again in the transaction that ends its claim. So two workers never hold one job, and a crash at any
// point loses none. A plain pg-boss job whose data is a command is as good as an enqueued one: it has no row of ours until it
// is claimed.

import { EngineError } from "@pawl/core/fault/engine-error";
import { isUuid } from "@pawl/core/name/ids";
import type { PgBoss } from "pg-boss";
import type { Pool } from "../db/pool.ts";
import { run } from "../db/query.ts";
import type { Queryable } from "../db/sql.ts";
import { BossCommands, type CommandJob, parsedOrFault } from "./boss-commands.ts";
import {
  ackCommand,
  anyExpiredCommand,
  buryCommand,
  claimCommand,
  type CommandRow,
  commandRow,
  countCommands,
  extendCommand,
  forgetCommands,
  nackCommand,
  reclaimCommand,
  releaseCommand,
  type ReturnedRow,
} from "./command-rows.ts";
import { checkCommand, toData, type WorkflowCommand } from "./workflow-command.ts";
import {
  checkMs,
  CLAIM_EXPIRED,
  DEFAULT_VISIBILITY_MS,
  errorText,
  isClaim,
  type ClaimedJob,
  type Heartbeat,
  type JobClaim,
  type JobCounts,
  type JobRecord,
  type JobStatus,
  type NewCommand,
  type Reclaimed,
  refusalOf,
  type Settlement,
  type WorkflowQueue,
} from "./workflow-queue.ts";

/** Taken back by one call; more are left to the next. */
const RECLAIM_MAX = 500;
/** Jobs that are no commands, or are claimed already, cleared away by one dequeue. */
const ODD_JOBS_MAX = 100;

export interface BossWorkflowQueueOptions {
  readonly pool: Pool;
  readonly boss: PgBoss;
  readonly visibilityTimeoutMs?: number;
  /** The database's clock unless given. */
  readonly now?: () => number;
  readonly newId?: () => string;
}

export class BossWorkflowQueue implements WorkflowQueue {
  readonly #pool: Pool;
  readonly #commands: BossCommands;
  readonly #visibilityMs: number;
  readonly #clock: (() => number) | undefined;
  readonly #newId: () => string;
  readonly #watchers = new Set<() => void>();

  constructor(options: BossWorkflowQueueOptions) {
    this.#pool = options.pool;
    this.#commands = new BossCommands(options.boss);
    this.#visibilityMs = options.visibilityTimeoutMs ?? DEFAULT_VISIBILITY_MS;
    this.#clock = options.now;
    this.#newId = options.newId ?? (() => crypto.randomUUID());
  }

  /** Makes the queue in pg-boss; as often as one likes. */
  async ensure(): Promise<void> {
    await this.#commands.ensure();
  }

  async enqueue(input: NewCommand): Promise<string> {
    const id = this.#newId();
    const command = checkCommand(input, id);
    const { priority } = command;
    await this.#commands.send(this.#pool, { id, data: toData(command), priority });
    this.wake();
    return id;
  }

  async dequeue(workerId: string): Promise<ClaimedJob | null> {
    for (let odd = 0; odd < ODD_JOBS_MAX; odd += 1) {
      // One probe without a transaction, since most polls find nothing.
      if (!(await this.#commands.isAnyReady(this.#pool))) return null;
      const claimed = await this.#pool.transaction((db) => this.#claim(db, workerId));
      if (claimed !== "odd") return claimed;
    }
    return null;
  }

  async ack(claim: JobClaim): Promise<Settlement> {
    return await this.#settle(claim, ackCommand);
  }

  async nack(claim: JobClaim, error: string, retryAfterMs = 0): Promise<Settlement> {
    const { jobId, claimEpoch } = claim;
    const afterMs = checkMs("retry_after_ms", retryAfterMs);
    if (!isClaim(claim)) return refusalOf(undefined, claim);
    const settled = await this.#pool.transaction(async (db): Promise<Settlement> => {
      const values = { jobId, claimEpoch, error: errorText(error), now: this.#now() };
      const [row] = await run(db, nackCommand, values);
      if (row === undefined) return refusalOf(await this.#standing(db, jobId), claim);
      await this.#sendAgain(db, row, afterMs);
      return { outcome: "done", status: row.status };
    });
    this.wake();
    return settled;
  }

  async heartbeat(claim: JobClaim, extendMs = this.#visibilityMs): Promise<Heartbeat> {
    const { jobId, claimEpoch } = claim;
    if (!isClaim(claim)) return refusalOf(undefined, claim);
    const forMs = checkMs("extend_ms", extendMs);
    const values = { jobId, claimEpoch, extendMs: forMs, now: this.#now() };
    const [row] = await run(this.#pool, extendCommand, values);
    if (row === undefined) return refusalOf(await this.#standing(this.#pool, jobId), claim);
    return { outcome: "done", visibleUntil: row.visible_until.getTime() };
  }

  async release(claim: JobClaim): Promise<Settlement> {
    return await this.#settle(claim, releaseCommand);
  }

  async reclaimExpired(): Promise<Reclaimed> {
    const count = { waiting: 0, dead_letter: 0 };
    const now = this.#now();
    const found = await run(this.#pool, anyExpiredCommand, { now });
    let isMore = found.length > 0;
    while (isMore && count.waiting + count.dead_letter < RECLAIM_MAX) {
      // One transaction a job: pg-boss orders by the time of the transaction, so they wait in the order they ran out.
      const status = await this.#pool.transaction(async (db) => {
        const [row] = await run(db, reclaimCommand, { now, error: CLAIM_EXPIRED });
        if (row !== undefined) await this.#sendAgain(db, row, 0);
        return row?.status;
      });
      isMore = status !== undefined;
      if (status === "waiting" || status === "dead_letter") count[status] += 1;
    }
    if (count.waiting > 0) this.wake();
    return count;
  }

  async getJob(jobId: string): Promise<JobRecord | undefined> {
    if (!isUuid(jobId)) return undefined;
    const [row] = await run(this.#pool, commandRow, { jobId });
    if (row !== undefined) return recordOf(jobId, row);
    const job = await this.#commands.find(jobId);
    if (job === undefined) return undefined;
    const command = commandOf(job.parsed);
    const none = { attempts: 0, claimEpoch: 0, workerId: null, visibleUntil: null, error: null };
    return { jobId, status: "waiting", ...none, command };
  }

  async getQueueDepth(): Promise<JobCounts> {
    const [rows, waiting] = await Promise.all([
      run(this.#pool, countCommands, {}),
      this.#commands.countWaiting(this.#pool),
    ]);
    const count = (status: JobStatus): number =>
      rows.find((row) => row.status === status)?.count ?? 0;
    return {
      waiting,
      active: count("active"),
      paused: count("paused"),
      dead_letter: count("dead_letter"),
    };
  }

  watch(onJobs: () => void): () => void {
    this.#watchers.add(onJobs);
    return () => void this.#watchers.delete(onJobs);
  }

  /** Says to those who watch that jobs may wait: for whoever hears of what other processes enqueued. */
  wake(): void {
    for (const onJobs of this.#watchers) queueMicrotask(onJobs);
  }

  /** Drops what was done longer ago than this. */
  async forget(olderThanMs: number): Promise<void> {
    await run(this.#pool, forgetCommands, { olderThanMs });
  }

  async #claim(db: Queryable, workerId: string): Promise<ClaimedJob | "odd" | null> {
    const job = await this.#commands.take(db);
    if (job === undefined) return null;
    if (job.parsed instanceof EngineError) {
      await this.#bury(db, job, workerId, job.parsed.message);
      return "odd";
    }
    const { jobId, command } = job.parsed;
    const [row] = await run(db, claimCommand, {
      jobId,
      runId: command.runId,
      command: JSON.stringify(toData(command)),
      priority: command.priority,
      maxAttempts: command.maxAttempts,
      workerId,
      now: this.#now(),
      visibilityMs: this.#visibilityMs,
      enqueuedAt: job.createdOn,
    });
    if (row === undefined) return "odd";
    const { attempts, claim_epoch: claimEpoch } = row;
    const visibleUntil = row.visible_until.getTime();
    return { ...command, jobId, claimEpoch, workerId, attempts, visibleUntil };
  }

  async #bury(db: Queryable, job: CommandJob, workerId: string, why: string): Promise<void> {
    const { id: jobId, priority, createdOn: enqueuedAt } = job;
    // A job without data has no JSON text.
    const command = job.data === undefined ? null : JSON.stringify(job.data);
    const values = { jobId, command, priority, workerId, error: why, enqueuedAt };
    await run(db, buryCommand, { ...values, now: this.#now() });
  }

  async #settle(claim: JobClaim, query: typeof ackCommand): Promise<Settlement> {
    const { jobId, claimEpoch } = claim;
    if (!isClaim(claim)) return refusalOf(undefined, claim);
    const [row] = await run(this.#pool, query, { jobId, claimEpoch, now: this.#now() });
    if (row === undefined) return refusalOf(await this.#standing(this.#pool, jobId), claim);
    return { outcome: "done", status: row.status };
  }

  async #standing(db: Queryable, jobId: string) {
    const [row] = await run(db, commandRow, { jobId });
    return row && { status: row.status, claimEpoch: row.claim_epoch };
  }

  /** What waits again goes back to pg-boss, under its own id within. */
  async #sendAgain(db: Queryable, row: ReturnedRow, afterMs: number): Promise<void> {
    if (row.status !== "waiting") return;
    const data = { ...row.command, job_id: row.job_id };
    await this.#commands.send(db, { data, priority: row.priority, afterMs });
  }

  #now(): Date | null {
    return this.#clock === undefined ? null : new Date(this.#clock());
  }
}

function recordOf(jobId: string, row: CommandRow): JobRecord {
  const { status, attempts, error, priority } = row;
  return {
    jobId,
    status,
    attempts,
    claimEpoch: row.claim_epoch,
    workerId: row.worker_id,
    visibleUntil: status === "active" ? row.visible_until.getTime() : null,
    error,
    command: commandOf(parsedOrFault(row.command, { id: jobId, priority })),
  };
}

const commandOf = (parsed: CommandJob["parsed"]): WorkflowCommand | null =>
  parsed instanceof EngineError ? null : parsed.command;
