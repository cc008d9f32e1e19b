// pg-boss behind our queue. pg-boss does delivery, priority and delay. Claims and leases are ours.
//
// A call with a connection joins the transaction of that connection. pg-boss looks its queue up before it sends a statement. So the
// pipeline waits for `issued`: then the statement is sent.
//
// Race: the transaction that holds a run's row drops the run's jobs by id, while another transaction has fetched a job and waits for the
// run's row. A drop skips locked jobs instead of waiting, so no deadlock is possible. The other transaction then loses its
// compare-and-swap, runs again on a fresh fold, and drops the job itself.

import { type Job as BossJob, PgBoss } from "pg-boss";
import { list, text, uuid } from "../db/columns.ts";
import { DEFAULT_SCHEMAS, type Schemas } from "../config/schemas.ts";
import { bind, queriesBeside, type Queryable } from "../db/query.ts";
import { ALARMS } from "./alarm.ts";
import { BossAlarms } from "./boss-alarms.ts";
import { bossStatement } from "./boss-query.ts";
import type { NodeQueue, QueueCall, SendStatement } from "./node-queue.ts";
import { Turns } from "./turns.ts";
import { GLUE, jobId, KEEP_FOREVER, PENDING_RUNS, queueName, startAfter } from "./queue.ts";
import type { DroppedJob, Job, NewJob, QueueDepth } from "./queue.ts";
import { missingJobs, readDepths } from "./reads.ts";

const SUPERVISE_INTERVAL_SECONDS = 600;
const FLOW_INTERVAL_SECONDS = 3_600;

const declare = queriesBeside(import.meta.url);
const drop = declare("drop", { queues: list(text()), ids: list(uuid()) });

interface JobData {
  readonly r: string;
  readonly n: string;
  readonly i: number;
  readonly a: number;
  /** Set if the job has the slots it needs. */
  readonly s?: 1;
  /** The rank of the job. It shows the scheduler that takes the job which turn is served. */
  readonly t?: number;
}

/** The interface that pg-boss needs of a connection. */
interface BossConnection {
  executeSql(sql: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
}

export class BossQueue implements NodeQueue {
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
      // No job here depends on another. The search for such jobs every 5 s made 36 of the queries of an idle minute.
      flowIntervalSeconds: FLOW_INTERVAL_SECONDS,
      // No job is active in pg-boss for longer than a transaction, so nothing expires there. Its search each minute made 30 queries.
      superviseIntervalSeconds: SUPERVISE_INTERVAL_SECONDS,
      monitorIntervalSeconds: SUPERVISE_INTERVAL_SECONDS,
      bamIntervalSeconds: SUPERVISE_INTERVAL_SECONDS,
      // Schedules use its rules and its delayed jobs, not its clock: decisions/0026.
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

  /** Creates the queue of a node type if it does not exist. */
  async ensure(nodeType: string): Promise<void> {
    if (this.#known.has(nodeType)) return;
    await this.#boss.createQueue(queueName(nodeType), KEEP_FOREVER);
    this.#known.add(nodeType);
  }

  /** Whether the queue of a node type exists. Another process may have created it. */
  async exists(nodeType: string): Promise<boolean> {
    return this.#known.has(nodeType) || (await this.#boss.getQueue(queueName(nodeType))) !== null;
  }

  get nodeTypes(): readonly string[] {
    return [...this.#known];
  }

  /** Whether jobs of this type can be sent without a query first. */
  isKnown(nodeType: string): boolean {
    return this.#known.has(nodeType);
  }

  insert(send: SendStatement, nodeType: string, jobs: readonly NewJob[]): QueueCall<void> {
    return this.#call(send, async (db) => {
      await this.#boss.insert(
        queueName(nodeType),
        jobs.map((job) => toBossJob(job, this.#turns.rankOf(job))),
        { db, returnId: false },
      );
    });
  }

  /** Takes jobs out. It fetches and deletes them in one transaction, so a rollback puts them back. */
  fetch(send: SendStatement, nodeType: string, count: number): QueueCall<Job[]> {
    return this.#call(send, async (db) => {
      const name = queueName(nodeType);
      const jobs = await this.#boss.fetch<JobData>(name, { batchSize: count, db });
      for (const { data } of jobs) if (data.t !== undefined) this.#turns.served(nodeType, data.t);
      if (jobs.length < count) this.#turns.emptied(nodeType);
      if (jobs.length === 0) return [];
      // Pass the jobs as fetched, never as plain ids, so that pg-boss fences the deletion to this attempt.
      await this.#boss.deleteJob(name, jobs, { db });
      // pg-boss chooses jobs by priority but returns them in any order, because its UPDATE … RETURNING has none.
      return jobs.toSorted(byRank).map((job) => fromBossJob(nodeType, job));
    });
  }

  async drop(send: SendStatement, jobs: readonly DroppedJob[]): Promise<void> {
    const queues = [...new Set(jobs.map((job) => queueName(job.nodeType)))];
    await send(bind(drop, { queues, ids: jobs.map(jobId) }));
  }

  missing(db: Queryable, jobs: readonly DroppedJob[]): Promise<DroppedJob[]> {
    return missingJobs(db, jobs);
  }

  /** Reads every known queue. The first job of a queue also shows which turn the queue serves. */
  async depths(db: Queryable): Promise<readonly QueueDepth[]> {
    const rows = await readDepths(db, this.nodeTypes);
    return rows.map((row) => {
      if (row.first_priority !== null) this.#turns.served(row.node_type, -row.first_priority);
      return {
        nodeType: row.node_type,
        waitingCount: row.waiting,
        ...(row.due_in_ms !== null && { dueInMs: Math.max(0, row.due_in_ms) }),
        ...(row.age_ms !== null && { ageMs: Math.max(0, row.age_ms) }),
      };
    });
  }

  #call<T>(send: SendStatement, work: (db: BossConnection) => Promise<T>): QueueCall<T> {
    const { promise: issued, resolve } = Promise.withResolvers<void>();
    const db: BossConnection = {
      executeSql: (sql, values) => {
        const answer = send(bossStatement(sql, values));
        resolve();
        return answer;
      },
    };
    const done = work(db).finally(resolve);
    return { issued, done };
  }
}

/** Lower numbers of our priorities are sooner, and higher numbers of pg-boss's. */
function toBossJob(job: NewJob, rank: number) {
  const key = { r: job.runId, n: job.nodeId, i: job.iteration, a: job.attempt, t: rank };
  const data: JobData = job.isGranted === true ? { ...key, s: 1 } : key;
  return { id: jobId(job), data, priority: -rank, startAfter: startAfter(job.delayMs) };
}

const byRank = (a: BossJob<JobData>, b: BossJob<JobData>): number =>
  (a.data.t ?? 0) - (b.data.t ?? 0);

function fromBossJob(nodeType: string, job: BossJob<JobData>): Job {
  const { r, n, i, a, s } = job.data;
  // The ids were branded when the job was made. jsonb returns them as plain strings.
  return {
    jobId: job.id,
    nodeType,
    runId: r as Job["runId"],
    nodeId: n as Job["nodeId"],
    iteration: i,
    attempt: a,
    ...(s !== undefined && { isGranted: true }),
  };
}
