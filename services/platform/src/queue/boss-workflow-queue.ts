// The workflow queue on PostgreSQL. pg-boss delivers, orders and delays the jobs that wait. Our table `workflow_jobs` holds the worker and
// the epoch of each claimed job. It also has the states that pg-boss lacks: paused, given back, claimed for longer than a day.
//
// A job is in pg-boss exactly while it waits. A claim takes it out of pg-boss and writes our row in one transaction. The transaction that
// ends a claim sends the job again. So two workers never hold one job, and a crash at any point loses none. A plain pg-boss job whose data
// is a command also works: it gets our row when a worker claims it.

import { CLOCK_SLACK_MS } from "../db/clock.ts";
import { EngineError } from "@pawl/core/fault/engine-error";
import type { JobWithMetadata, PgBoss } from "pg-boss";
import type { Pool } from "../db/pool.ts";
import { type Queryable, run } from "../db/query.ts";
import { joining } from "./boss-query.ts";
import * as rows from "./command-rows.ts";
import { cancelCommand, discardCommand, redriveCommand, resentId } from "./command-changes.ts";
import { countCommands, readCommand, readCommands, readRow } from "./command-reads.ts";
import { COMMAND_QUEUE, KEEP_FOREVER, startAfter } from "./queue.ts";
import { checkCommand, type CommandData, parseData, toData } from "./workflow-command.ts";
import {
  type Change,
  checkMs,
  CLAIM_EXPIRED,
  type ClaimedJob,
  DEFAULT_VISIBILITY_MS,
  type EnqueueOptions,
  errorText,
  type Heartbeat,
  isClaim,
  type JobClaim,
  type JobCounts,
  type JobQuestion,
  type JobRecord,
  type JobStatus,
  type ListedJob,
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
/** A command that is due within this time gets a timer. The scheduler polls as often by default. */
const NEAR_MS = 60_000;
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
  /** The timer for the next delayed command, and when it ends by steady time. */
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Infinity;

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

  async enqueue(input: NewCommand, options: EnqueueOptions = {}): Promise<string> {
    const { jobId: id = this.#newId(), delayMs = 0 } = options;
    const command = checkCommand(input, id);
    const afterMs = checkMs("delay_ms", delayMs);
    // pg-boss forgets a claimed job earlier than we do.
    if (options.jobId !== undefined && (await readRow(this.#pool, id)) !== undefined) return id;
    const job = { id, data: toData(command), priority: command.priority };
    await this.#send(this.#pool, job, afterMs);
    this.#wakeAfter(afterMs);
    return id;
  }

  async dequeue(workerId: string): Promise<ClaimedJob | null> {
    for (let odd = 0; odd < ODD_JOBS_MAX; odd += 1) {
      // One probe without a transaction, because most polls find nothing.
      const [next] = await run(this.#pool, rows.nextCommand, { queue: COMMAND_QUEUE });
      const dueInMs = next?.due_in_ms ?? Infinity;
      // Another process may have enqueued a command that is due before the next poll.
      if (dueInMs > 0 && dueInMs <= NEAR_MS) this.#wakeAfter(dueInMs);
      if (dueInMs > 0) return null;
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
      const values = { jobId, claimEpoch, error: errorText(error), afterMs, now: this.#now() };
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

  async cancel(jobId: string): Promise<Change> {
    return await this.#pool.transaction((db) => cancelCommand(db, jobId, this.#now()));
  }

  async redrive(jobId: string, requestId: string): Promise<Change> {
    const asked = { jobId, redriveRequest: requestId, now: this.#now() };
    const changed = await this.#pool.transaction((db) =>
      redriveCommand(db, asked, (row) => this.#sendAgain(db, row)),
    );
    this.wake();
    return changed;
  }

  async discard(jobId: string): Promise<Change> {
    return await discardCommand(this.#pool, jobId, this.#now());
  }

  async getJob(jobId: string): Promise<JobRecord | undefined> {
    const job = await readCommand(this.#pool, jobId);
    if (job === undefined) return undefined;
    const { enqueuedAt: _enqueuedAt, dueAt: _dueAt, place: _place, ...record } = job;
    return record;
  }

  async listJobs(asked: JobQuestion): Promise<readonly ListedJob[]> {
    return await readCommands(this.#pool, asked);
  }

  async getQueueDepth(): Promise<JobCounts> {
    return await countCommands(this.#pool);
  }

  watch(onJobs: () => void): () => void {
    this.#watchers.add(onJobs);
    return () => void this.#watchers.delete(onJobs);
  }

  /** Calls the watchers: jobs may wait. Another process may have enqueued them. */
  wake(): void {
    for (const onJobs of this.#watchers) queueMicrotask(onJobs);
  }

  /** Calls the watchers when a delayed command is due. A process that starts later learns of it when it polls. */
  #wakeAfter(afterMs: number): void {
    if (afterMs === 0) return this.wake();
    const at = performance.now() + afterMs + CLOCK_SLACK_MS;
    // A poll finds a command that is due later.
    if (afterMs > NEAR_MS || at >= this.#timerAt) return;
    clearTimeout(this.#timer);
    this.#timerAt = at;
    const onDue = (): void => {
      this.#timerAt = Infinity;
      this.wake();
    };
    this.#timer = setTimeout(onDue, afterMs + CLOCK_SLACK_MS).unref();
  }

  /** Drops commands that ended longer ago than this. */
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
    job: { id: string; data: CommandData; priority: number },
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
    await this.#send(db, { id: resentId(row), data, priority: row.priority }, afterMs);
  }

  #now(): Date | null {
    return this.#clock === undefined ? null : new Date(this.#clock());
  }
}

async function refuse(db: Queryable, claim: JobClaim): Promise<Refusal> {
  const row = await readRow(db, claim.jobId);
  const isClaimed = row !== undefined && row.claim_epoch > 0;
  return refusalOf(
    isClaimed ? { status: row.status, claimEpoch: row.claim_epoch } : undefined,
    claim,
  );
}

const readJob = ({ id, data, priority }: JobWithMetadata<unknown>) =>
  parseData(data, { id, priority: 0 - priority });
