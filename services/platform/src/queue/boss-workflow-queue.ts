// The workflow queue on PostgreSQL. pg-boss delivers, orders and delays the jobs that wait. Our table `workflow_jobs` holds the worker and
// the epoch of each claimed job. It also has the states that pg-boss lacks: paused, given back, claimed for longer than a day.
//
// A job is in pg-boss exactly while it waits. A claim takes it out of pg-boss and writes our row in one transaction. The transaction that
// ends a claim sends the job again. So two workers never hold one job, and a crash at any point loses none. A plain pg-boss job whose data
// is a command also works: it gets our row when a worker claims it.

import { EngineError } from "@pawl/core/fault/engine-error";
import { isUuid } from "@pawl/core/name/ids";
import type { JobWithMetadata, PgBoss } from "pg-boss";
import type { Pool } from "../db/pool.ts";
import { type Queryable, run } from "../db/query.ts";
import { joining } from "./boss-query.ts";
import * as rows from "./command-rows.ts";
import { COMMAND_QUEUE, KEEP_FOREVER, startAfter } from "./queue.ts";
import { checkCommand, type CommandData, parseData, toData } from "./workflow-command.ts";
import {
  checkMs,
  CLAIM_EXPIRED,
  type ClaimedJob,
  DEFAULT_VISIBILITY_MS,
  errorText,
  type Heartbeat,
  isClaim,
  type JobClaim,
  type JobCounts,
  type JobRecord,
  type JobStatus,
  type NewCommand,
  type Reclaimed,
  type Refusal,
  refusalOf,
  type Settlement,
  type WorkflowQueue,
  type WorkflowQueueOptions,
} from "./workflow-queue.ts";

/** The most jobs that one call takes back. The next call takes more. */
const RECLAIM_MAX = 500;
/** The most jobs that one dequeue clears away because they are no commands or are claimed already. */
const ODD_JOBS_MAX = 100;

interface BossWorkflowQueueOptions extends WorkflowQueueOptions {
  readonly pool: Pool;
  readonly boss: PgBoss;
}

export class BossWorkflowQueue implements WorkflowQueue {
  readonly #pool: Pool;
  readonly #boss: PgBoss;
  readonly #visibilityMs: number;
  readonly #clock: (() => number) | undefined;
  readonly #newId: () => string;
  readonly #watchers = new Set<() => void>();

  constructor(options: BossWorkflowQueueOptions) {
    this.#pool = options.pool;
    this.#boss = options.boss;
    this.#visibilityMs = options.visibilityTimeoutMs ?? DEFAULT_VISIBILITY_MS;
    this.#clock = options.now;
    this.#newId = options.newId ?? (() => crypto.randomUUID());
  }

  /** Creates the queue in pg-boss if it does not exist. */
  async ensure(): Promise<void> {
    await this.#boss.createQueue(COMMAND_QUEUE, { ...KEEP_FOREVER, notify: true });
  }

  async enqueue(input: NewCommand): Promise<string> {
    const id = this.#newId();
    const command = checkCommand(input, id);
    await this.#send(this.#pool, { id, data: toData(command), priority: command.priority });
    this.wake();
    return id;
  }

  async dequeue(workerId: string): Promise<ClaimedJob | null> {
    for (let odd = 0; odd < ODD_JOBS_MAX; odd += 1) {
      // One probe without a transaction, because most polls find nothing.
      const ready = await run(this.#pool, rows.anyReadyCommand, { queue: COMMAND_QUEUE });
      if (ready.length === 0) return null;
      const claimed = await this.#pool.transaction((db) => this.#claim(db, workerId));
      if (claimed !== "odd") return claimed;
    }
    return null;
  }

  async ack(claim: JobClaim): Promise<Settlement> {
    return await this.#settle(claim, "completed", ["active", "paused"]);
  }

  async nack(claim: JobClaim, error: string, retryAfterMs = 0): Promise<Settlement> {
    const { jobId, claimEpoch } = claim;
    const afterMs = checkMs("retry_after_ms", retryAfterMs);
    if (!isClaim(claim)) return refusalOf(undefined, claim);
    const settled = await this.#pool.transaction(async (db): Promise<Settlement> => {
      const values = { jobId, claimEpoch, error: errorText(error), now: this.#now() };
      const [row] = await run(db, rows.nackCommand, values);
      if (row === undefined) return await refuse(db, claim);
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
    const [row] = await run(this.#pool, rows.extendCommand, values);
    if (row === undefined) return await refuse(this.#pool, claim);
    return { outcome: "done", visibleUntil: row.visible_until.getTime() };
  }

  async release(claim: JobClaim): Promise<Settlement> {
    return await this.#settle(claim, "paused", ["active"]);
  }

  async reclaimExpired(): Promise<Reclaimed> {
    const count = { waiting: 0, dead_letter: 0 };
    const now = this.#now();
    const found = await run(this.#pool, rows.anyExpiredCommand, { now });
    let isMore = found.length > 0;
    while (isMore && count.waiting + count.dead_letter < RECLAIM_MAX) {
      // One transaction for each job. pg-boss orders by the time of the transaction, so the jobs wait in the order in which their claims
      // ended.
      const status = await this.#pool.transaction(async (db) => {
        const [row] = await run(db, rows.reclaimCommand, { now, error: CLAIM_EXPIRED });
        if (row !== undefined) await this.#sendAgain(db, row);
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
    const [row] = await run(this.#pool, rows.commandRow, { jobId });
    if (row !== undefined) return recordOf(jobId, row);
    const [job] = await this.#boss.findJobs<unknown>(COMMAND_QUEUE, { id: jobId, queued: true });
    if (job === undefined) return undefined;
    const none = { attempts: 0, claimEpoch: 0, workerId: null, visibleUntil: null, error: null };
    return { jobId, status: "waiting", ...none, command: commandOf(readJob(job)) };
  }

  async getQueueDepth(): Promise<JobCounts> {
    const [counts, [ready]] = await Promise.all([
      run(this.#pool, rows.countCommands, {}),
      run(this.#pool, rows.countWaitingCommands, { queue: COMMAND_QUEUE }),
    ]);
    const none = { active: 0, paused: 0, dead_letter: 0 };
    const found = Object.fromEntries(counts.map(({ status, count }) => [status, count]));
    return { ...none, ...found, waiting: ready?.count ?? 0 };
  }

  watch(onJobs: () => void): () => void {
    this.#watchers.add(onJobs);
    return () => void this.#watchers.delete(onJobs);
  }

  /** Calls the watchers: jobs may wait. Another process may have enqueued them. */
  wake(): void {
    for (const onJobs of this.#watchers) queueMicrotask(onJobs);
  }

  /** Drops commands that finished longer ago than this. */
  async forget(olderThanMs: number): Promise<void> {
    await run(this.#pool, rows.forgetCommands, { olderThanMs });
  }

  async #claim(db: Queryable, workerId: string): Promise<ClaimedJob | "odd" | null> {
    const options = { includeMetadata: true, ...joining(db) } as const;
    const [job] = await this.#boss.fetch<unknown>(COMMAND_QUEUE, options);
    if (job === undefined) return null;
    // Pass the job as fetched, never as a plain id, so that pg-boss fences the call to this attempt. Complete the job and do not delete it,
    // so that pg-boss's singleton keys and throttles still see it.
    await this.#boss.complete(COMMAND_QUEUE, job, null, joining(db));
    const read = readJob(job);
    const values = { workerId, now: this.#now(), enqueuedAt: job.createdOn };
    if (read instanceof EngineError) {
      // A job without data has no JSON text.
      const command = job.data === undefined ? null : JSON.stringify(job.data);
      const buried = { jobId: job.id, command, priority: 0 - job.priority, error: read.message };
      await run(db, rows.buryCommand, { ...values, ...buried });
      return "odd";
    }
    const { jobId, command } = read;
    const { runId, priority, maxAttempts } = command;
    const claim = { jobId, runId, priority, maxAttempts, visibilityMs: this.#visibilityMs };
    const text = JSON.stringify(toData(command));
    const [row] = await run(db, rows.claimCommand, { ...values, ...claim, command: text });
    if (row === undefined) return "odd";
    const { attempts, claim_epoch: claimEpoch } = row;
    const visibleUntil = row.visible_until.getTime();
    return { ...command, jobId, claimEpoch, workerId, attempts, visibleUntil };
  }

  async #settle(
    claim: JobClaim,
    status: JobStatus,
    from: readonly JobStatus[],
  ): Promise<Settlement> {
    const { jobId, claimEpoch } = claim;
    if (!isClaim(claim)) return refusalOf(undefined, claim);
    const values = { jobId, claimEpoch, status, from, now: this.#now() };
    const [row] = await run(this.#pool, rows.settleCommand, values);
    return row === undefined ? await refuse(this.#pool, claim) : { outcome: "done", ...row };
  }

  /** Lower numbers of our priorities are sooner, and higher numbers of pg-boss's. */
  async #send(
    db: Queryable,
    job: { id?: string; data: CommandData; priority: number },
    afterMs = 0,
  ): Promise<void> {
    const when = startAfter(afterMs > 0 ? afterMs : undefined);
    const jobs = [{ ...job, priority: 0 - job.priority, startAfter: when }];
    await this.#boss.insert(COMMAND_QUEUE, jobs, { ...joining(db), returnId: false });
  }

  /** Sends a waiting job to pg-boss again, with its own id inside. */
  async #sendAgain(db: Queryable, row: rows.ReturnedRow, afterMs?: number): Promise<void> {
    if (row.status !== "waiting") return;
    const data = { ...row.command, job_id: row.job_id };
    await this.#send(db, { data, priority: row.priority }, afterMs);
  }

  #now(): Date | null {
    return this.#clock === undefined ? null : new Date(this.#clock());
  }
}

async function refuse(db: Queryable, claim: JobClaim): Promise<Refusal> {
  const [row] = await run(db, rows.commandRow, { jobId: claim.jobId });
  return refusalOf(row && { status: row.status, claimEpoch: row.claim_epoch }, claim);
}

const readJob = ({ id, data, priority }: JobWithMetadata<unknown>) =>
  parseData(data, { id, priority: 0 - priority });

const commandOf = (parsed: ReturnType<typeof parseData>) =>
  parsed instanceof EngineError ? null : parsed.command;

function recordOf(jobId: string, row: rows.CommandRow): JobRecord {
  const { status, attempts, claim_epoch: claimEpoch, worker_id: workerId, error, priority } = row;
  const visibleUntil = status === "active" ? row.visible_until.getTime() : null;
  const command = commandOf(parseData(row.command, { id: jobId, priority }));
  return { jobId, status, attempts, claimEpoch, workerId, visibleUntil, error, command };
}
