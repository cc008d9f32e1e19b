// pg-boss behind our queue: delivery, priority and delay are its business; claims and leases are ours.
//
// Calls given a connection join that connection's transaction. pg-boss looks its queue up before it sends anything, so a
// call is over for the pipeline only when its statement is on the wire: `issued` tells when.
//
// Jobs are dropped by id without having been fetched, by whoever holds their run's row. A fetch elsewhere may hold the job's
// row and want the run's: so a drop skips what is locked instead of waiting, and no deadlock is possible. The fetch that was
// skipped over loses its compare-and-swap, begins again on a fresh fold, and drops the job itself.

import { type Job as BossJob, PgBoss } from "pg-boss";
import { list, text, uuid } from "../db/columns.ts";
import { DEFAULT_SCHEMAS, type Schemas } from "../config/schemas.ts";
import { queriesBeside, type Send } from "../db/query.ts";
import type { Queryable } from "../db/sql.ts";
import { ALARMS } from "./alarm.ts";
import { AT_ONCE } from "./at-once.ts";
import { BossAlarms } from "./boss-alarms.ts";
import { jobId } from "./job-id.ts";
import { queueName } from "./queue-name.ts";
import { Turns } from "./turns.ts";
import {
  type DroppedJob,
  GLUE,
  type Job,
  type NewJob,
  PENDING_RUNS,
  type QueueDepth,
} from "./queue.ts";
import { readDepths } from "./reads.ts";

const YEAR_SECONDS = 366 * 24 * 3_600;
const FLOW_INTERVAL_SECONDS = 3_600;

const declare = queriesBeside(import.meta.url);
const drop = declare("drop", { queues: list(text()), ids: list(uuid()) });

interface JobData {
  readonly r: string;
  readonly n: string;
  readonly i: number;
  readonly a: number;
  /** It has the slots it needs. */
  readonly s?: 1;
  /** Its rank: whoever takes it learns which turn is served. */
  readonly t?: number;
}

/** Sends one statement and gives its rows: what pg-boss asks of a connection. */
export type SendSql = (sql: string, values?: unknown[]) => Promise<{ rows: unknown[] }>;

/** A call under way: `issued` once its statement is sent, `done` once it is answered. */
export interface BossCall<T> {
  readonly issued: Promise<void>;
  readonly done: Promise<T>;
}

export class BossQueue {
  readonly #boss: PgBoss;
  readonly #known = new Set<string>();
  readonly alarms: BossAlarms;
  readonly #turns = new Turns();

  constructor(
    url: string,
    onWarning: (error: unknown) => void,
    { queue }: Pick<Schemas, "queue"> = DEFAULT_SCHEMAS,
  ) {
    this.#boss = new PgBoss({
      connectionString: url,
      schema: queue,
      max: 2,
      application_name: "pawl-boss",
      // Jobs here depend on no other jobs; looking for such each 5 s was 36 of an idle minute's queries.
      flowIntervalSeconds: FLOW_INTERVAL_SECONDS,
      // Schedules use its computing and its delayed jobs, not its clock: decisions/0026.
      schedule: false,
    });
    this.alarms = new BossAlarms(this.#boss);
    this.#boss.on("error", onWarning);
  }

  async start(nodeTypes: readonly string[]): Promise<void> {
    await this.#boss.start();
    for (const type of [...nodeTypes, PENDING_RUNS, GLUE, ALARMS]) await this.ensure(type);
  }

  /** The library itself, for the other queues of the same instance. */
  get library(): PgBoss {
    return this.#boss;
  }

  stop(): Promise<void> {
    return this.#boss.stop({ graceful: false, close: true });
  }

  /** Makes sure that the queue of a node type exists. */
  async ensure(nodeType: string): Promise<void> {
    if (this.#known.has(nodeType)) return;
    // A job waits as long as its delay and its run ask; pg-boss must never delete it on its own.
    const options = { retentionSeconds: 10 * YEAR_SECONDS, retryLimit: 0 };
    await this.#boss.createQueue(queueName(nodeType), options);
    this.#known.add(nodeType);
  }

  /** Whether the queue of a node type exists, whoever made it. */
  async exists(nodeType: string): Promise<boolean> {
    return this.#known.has(nodeType) || (await this.#boss.getQueue(queueName(nodeType))) !== null;
  }

  get nodeTypes(): readonly string[] {
    return [...this.#known];
  }

  /** True when jobs of this type can be sent without asking the database first. */
  isKnown(nodeType: string): boolean {
    return this.#known.has(nodeType);
  }

  insert(send: SendSql, nodeType: string, jobs: readonly NewJob[]): BossCall<void> {
    return this.#call(send, async (db) => {
      await this.#boss.insert(
        queueName(nodeType),
        jobs.map((job) => toBossJob(job, this.#turns.rankOf(job))),
        { db, returnId: false },
      );
    });
  }

  /** Takes jobs out: fetched and deleted in the same transaction, so a rollback puts them back. */
  fetch(send: SendSql, nodeType: string, count: number): BossCall<Job[]> {
    return this.#call(send, async (db) => {
      const name = queueName(nodeType);
      const jobs = await this.#boss.fetch<JobData>(name, { batchSize: count, db });
      for (const { data } of jobs) if (data.t !== undefined) this.#turns.served(nodeType, data.t);
      if (jobs.length < count) this.#turns.emptied(nodeType);
      if (jobs.length === 0) return [];
      // Handed over as fetched, never as plain ids: pg-boss then fences the deletion to this attempt.
      await this.#boss.deleteJob(name, jobs, { db });
      // It chooses by priority and gives them in any order: its UPDATE … RETURNING has none.
      return jobs.toSorted(byRank).map((job) => fromBossJob(nodeType, job));
    });
  }

  /** Removes waiting jobs. A job that another transaction takes now is left to that one. */
  async drop(send: Send, jobs: readonly DroppedJob[]): Promise<void> {
    const queues = [...new Set(jobs.map((job) => queueName(job.nodeType)))];
    await send(drop, { queues, ids: jobs.map(jobId) });
  }

  /** Looks at every known queue. The first job of each also says which turn the queue serves: no turn before it. */
  async depths(db: Queryable): Promise<readonly QueueDepth[]> {
    const rows = await readDepths(db, this.nodeTypes);
    return rows.map((row) => {
      if (row.first_priority !== null) this.#turns.served(row.node_type, -row.first_priority);
      return {
        nodeType: row.node_type,
        waitingCount: row.waiting,
        ...(row.due_in_ms === null ? {} : { dueInMs: Math.max(0, row.due_in_ms) }),
        ...(row.age_ms === null ? {} : { ageMs: Math.max(0, row.age_ms) }),
      };
    });
  }

  #call<T>(send: SendSql, work: (db: { executeSql: SendSql }) => Promise<T>): BossCall<T> {
    const { promise: issued, resolve } = Promise.withResolvers<void>();
    const db = {
      executeSql: (sql: string, values?: unknown[]) => {
        const answer = send(sql, values);
        resolve();
        return answer;
      },
    };
    const done = work(db).finally(resolve);
    return { issued, done };
  }
}

/** Our priorities are sooner for lower numbers, pg-boss's for higher ones (X16). */
function toBossJob(job: NewJob, rank: number) {
  const key = { r: job.runId, n: job.nodeId, i: job.iteration, a: job.attempt, t: rank };
  const data: JobData = job.isGranted === true ? { ...key, s: 1 } : key;
  return {
    id: jobId(job),
    data,
    priority: -rank,
    startAfter: job.delayMs === undefined ? AT_ONCE : `${job.delayMs} milliseconds`,
  };
}

const byRank = (a: BossJob<JobData>, b: BossJob<JobData>): number =>
  (a.data.t ?? 0) - (b.data.t ?? 0);

function fromBossJob(nodeType: string, job: BossJob<JobData>): Job {
  const { r, n, i, a, s } = job.data;
  // The ids were branded when the job was made; jsonb gives them back as plain strings.
  return {
    jobId: job.id,
    nodeType,
    runId: r as Job["runId"],
    nodeId: n as Job["nodeId"],
    iteration: i,
    attempt: a,
    ...(s === undefined ? {} : { isGranted: true }),
  };
}
