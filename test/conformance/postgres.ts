// The Postgres store under test. The tests of a file share one database, its pool and its queues, because opening them takes a second and
// emptying them takes no time. Every test gets journals of its own on them.

import type { RunId } from "@pawl/core/name/ids";
import { migrate } from "@pawl/platform/db/migrate";
import { openPool, type Pool } from "@pawl/platform/db/pool";
import { DEFAULT_SCHEMAS, type Schemas, searchPath } from "@pawl/platform/config/schemas";
import type { Queryable } from "@pawl/platform/db/query";
import { BossQueue } from "@pawl/platform/queue/boss";
import type { NodeQueue } from "@pawl/platform/queue/node-queue";
import { createAssistants } from "@pawl/platform/store/assistants/writes";
import { createExecutors } from "@pawl/platform/store/leases/writes";
import { createJournal } from "@pawl/platform/store/tick/postgres";
import { createNodeTypes } from "@pawl/platform/store/node-types/writes";
import { createPauses } from "@pawl/platform/store/pauses/writes";
import { createSchedules } from "@pawl/platform/store/schedules/writes";
import { createDeadLetters } from "@pawl/platform/store/dead-letters/writes";
import { readSlotWaits } from "@pawl/platform/store/slots/reads";
import { createRecovery } from "@pawl/platform/store/recovery/writes";
import { createWebhooks } from "@pawl/platform/store/webhooks/writes";
import { createValueRows } from "@pawl/platform/store/values/writes";
import { createThreads } from "@pawl/platform/store/threads/writes";
import { createWorkflows } from "@pawl/platform/store/workflows/writes";
import { afterAll, expect } from "vitest";
import { freshDatabase } from "../support/postgres.ts";
import type {
  OpenStore,
  Seen,
  SeenEffect,
  SeenEvent,
  SeenLease,
  SeenRun,
  StoreUnderTest,
} from "./store.ts";

interface Ground {
  readonly url: string;
  readonly pool: Pool;
  readonly bosses: readonly [BossQueue, BossQueue];
  /** The queues of nodes: pg-boss, or the other queue. */
  readonly queues: readonly [NodeQueue, NodeQueue];
  readonly tables: readonly Table[];
  readonly close: () => Promise<void>;
}

/** A queue of nodes in the place of pg-boss. */
export interface OtherQueue {
  readonly make: (pool: Pool) => Promise<NodeQueue>;
  /** Deletes the jobs of the run `$1`. */
  readonly loseJobs: string;
}

interface PostgresOptions {
  readonly otherQueue?: OtherQueue;
  readonly schemas?: Schemas;
  /** Leaves the planner its choice: no plan is pinned, and each is made for its values. */
  readonly hasFreePlans?: boolean;
}

/** A store on a database of this file's own. Each file of tests calls it, because files share modules and have hooks of their own. */
export function postgresWith(options: PostgresOptions = {}): OpenStore {
  let ground: Promise<Ground> | undefined;
  afterAll(async () => (await ground)?.close());
  return () => openOn((ground ??= breakGround(options)), options);
}

async function breakGround(options: PostgresOptions): Promise<Ground> {
  const { schemas, hasFreePlans, otherQueue } = options;
  const database = await freshDatabase();
  if (schemas !== undefined) await migrate(database.url, undefined, schemas);
  const url = hasFreePlans === true ? withFreePlans(database.url) : database.url;
  const pool = openPool(url, { max: 8, name: "pawl-conformance", schemas });
  const { rows: modes } = await pool.query({ text: "show plan_cache_mode" });
  const mode = hasFreePlans === true ? "force_custom_plan" : "force_generic_plan";
  expect(modes).toEqual([{ plan_cache_mode: mode }]);
  const warn = (error: unknown): void => console.warn(error);
  const bosses = [
    new BossQueue(database.url, warn, schemas),
    new BossQueue(database.url, warn, schemas),
  ] as const;
  await Promise.all(bosses.map((boss) => boss.start([])));
  return {
    url,
    pool,
    bosses,
    queues:
      otherQueue === undefined
        ? bosses
        : [await otherQueue.make(pool), await otherQueue.make(pool)],
    tables: await tablesOf(pool, schemas ?? DEFAULT_SCHEMAS),
    close: async () => {
      await Promise.all(bosses.map((boss) => boss.stop()));
      await pool.end();
      await database.drop();
    },
  };
}

/** Options in the URL take the place of those that our connections ask for. */
function withFreePlans(url: string): string {
  const free = new URL(url);
  const path = searchPath(DEFAULT_SCHEMAS);
  const options = ["plan_cache_mode=force_custom_plan", `search_path=${path}`];
  free.searchParams.set("options", options.map((option) => `-c ${option}`).join(" "));
  return free.href;
}

const TABLES = `
select format('%I.%I', $1::text, relname) as name from pg_class
where relnamespace = $1::regnamespace and relkind in ('r', 'p') and not relispartition and relname <> 'migrations'`;

/** A table and the rows that its migration gave it. */
type Table = { readonly name: string; readonly rows: unknown };

async function tablesOf(pool: Pool, { engine, queue }: Schemas): Promise<Table[]> {
  const values = [engine];
  const { rows: tables } = await pool.query<{ name: string }>({ text: TABLES, values });
  const all: Table[] = [{ name: `${queue}.job`, rows: null }];
  for (const { name } of tables) {
    const text = `select jsonb_agg(to_jsonb(t)) as rows from ${name} t`;
    all.push({ name, rows: (await pool.query<{ rows: unknown }>({ text })).rows[0]?.rows });
  }
  return all;
}

/** As if nothing had ever been written. */
async function empty({ pool, tables }: Ground): Promise<void> {
  // pg-boss maintains its tables meanwhile, so a statement that collides with it is tried again.
  await pool.transaction(async (db) => {
    // All rows go, so nothing that refers to them needs to be asked.
    await db.query({ text: "set local session_replication_role = replica" });
    for (const { name, rows } of tables) {
      await db.query({ text: `delete from ${name}` });
      if (rows === null) continue;
      const text = `insert into ${name} select * from jsonb_populate_recordset(null::${name}, $1)`;
      await db.query({ text, values: [JSON.stringify(rows)] });
    }
  });
}

/** An empty store. */
async function openOn(
  shared: Promise<Ground>,
  { schemas, otherQueue }: PostgresOptions,
): Promise<StoreUnderTest> {
  const ground = await shared;
  await empty(ground);
  const { url, pool, bosses, queues } = ground;
  const journal = createJournal({ url, pool, queue: queues[0], schemas });
  const rival = createJournal({ url, pool, queue: queues[1], schemas });
  return {
    journal,
    rival,
    executors: createExecutors(pool),
    workflows: createWorkflows(pool),
    schedules: createSchedules(pool, bosses[0].alarms),
    recovery: createRecovery(pool, queues[0]),
    deadLetters: createDeadLetters(pool),
    nodeTypes: createNodeTypes(pool),
    pauses: createPauses(pool),
    webhooks: createWebhooks(pool),
    valueRows: createValueRows(pool),
    db: pool,
    assistants: createAssistants(pool),
    threads: createThreads(pool),
    loseEvent: async (runId, seq) => {
      const text = "delete from run_events where run_id = $1 and seq = $2 returning *";
      const { rows } = await pool.query({ text, values: [runId, seq] });
      return async () => {
        const back =
          "insert into run_events select * from jsonb_populate_recordset(null::run_events, $1)";
        await pool.query({ text: back, values: [JSON.stringify(rows)] });
      };
    },
    strayEvent: async (runId) => {
      const text = `
insert into run_events (run_id, seq, type, node_id, iteration, attempt, epoch, ordinal, payload)
select run_id, last_seq + 1, 'node.log', 'x', 0, 1, 0, 0, '{}' from runs where run_id = $1`;
      await pool.query({ text, values: [runId] });
      const back = `
delete from run_events e using runs r
where r.run_id = $1 and e.run_id = r.run_id and e.seq > r.last_seq`;
      return async () => void (await pool.query({ text: back, values: [runId] }));
    },
    loseJobs: async (runId) => {
      const text = otherQueue?.loseJobs ?? "delete from job where data->>'r' = $1";
      await pool.query({ text, values: [runId] });
    },
    prepare: async (nodeTypes) => {
      for (const boss of bosses) for (const type of nodeTypes) await boss.ensure(type);
    },
    see: (runId) => see(pool, runId),
    slotWaits: (runId, asked) => readSlotWaits(pool, runId, asked),
    executorIds: async () => {
      const text = "select executor_id as id from executors order by executor_id";
      return (await pool.query<{ id: string }>({ text })).rows.map((row) => row.id);
    },
    close: async () => {
      await Promise.all([journal.close(), rival.close()]);
    },
  };
}

async function see(db: Queryable, runId: RunId): Promise<Seen> {
  const read = async <Row extends object>(text: string): Promise<Row[]> =>
    (await db.query<Row>({ text, values: [runId] })).rows;
  const [runs, events, leases, effects] = await Promise.all([
    read<SeenRun>(`
      select status, version, last_seq as "lastSeq", has_failures as "hasFailures",
        error_message as "errorMessage", failure_class as "failureClass", ended_at is not null as "hasEnded"
      from runs where run_id = $1`),
    read<SeenEvent>(`
      select seq, type, node_id as "nodeId", iteration, attempt, epoch, payload, value
      from run_events where run_id = $1 order by seq`),
    read<SeenLease>(`
      select node_id as "nodeId", iteration, epoch, attempt, executor_id as "executorId"
      from leases where run_id = $1 order by node_id collate "C", iteration`),
    read<SeenEffect>(`
      select node_id as "nodeId", iteration, name, class, begun_epoch as "begunEpoch",
        committed_epoch as "committedEpoch", result
      from effects where run_id = $1 order by node_id collate "C", iteration, name collate "C"`),
  ]);
  return { run: runs[0], events, leases, effects };
}
