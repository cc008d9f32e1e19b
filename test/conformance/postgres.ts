// The Postgres store under test. The tests of a file share one database, its pool and its queues, which take a second to open and
// nothing to empty; every test gets journals of its own on them.

import type { RunId } from "@pawl/core/name/ids";
import { openPool, type Pool } from "@pawl/platform/db/pool";
import type { Queryable } from "@pawl/platform/db/sql";
import { BossQueue } from "@pawl/platform/queue/boss";
import { createExecutors } from "@pawl/platform/store/leases/writes";
import { createJournal } from "@pawl/platform/store/tick/postgres";
import { createPauses } from "@pawl/platform/store/pauses/writes";
import { createSchedules } from "@pawl/platform/store/schedules/writes";
import { createDeadLetters } from "@pawl/platform/store/dead-letters/writes";
import { readSlotWaits } from "@pawl/platform/store/slots/reads";
import { createRecovery } from "@pawl/platform/store/recovery/writes";
import { createWorkflows } from "@pawl/platform/store/workflows/writes";
import { afterAll } from "vitest";
import { freshDatabase } from "../support/postgres.ts";
import type { Seen, SeenEffect, SeenEvent, SeenLease, SeenRun, StoreUnderTest } from "./store.ts";

interface Ground {
  readonly url: string;
  readonly pool: Pool;
  readonly bosses: readonly [BossQueue, BossQueue];
  readonly tables: readonly Table[];
  readonly close: () => Promise<void>;
}

let ground: Promise<Ground> | undefined;

afterAll(async () => (await ground)?.close());

async function breakGround(): Promise<Ground> {
  const database = await freshDatabase();
  const { url } = database;
  const pool = openPool(url, { max: 8, name: "pawl-conformance" });
  const warn = (error: unknown): void => console.warn(error);
  const bosses = [new BossQueue(url, warn), new BossQueue(url, warn)] as const;
  await Promise.all(bosses.map((boss) => boss.start([])));
  return {
    url,
    pool,
    bosses,
    tables: await tablesOf(pool),
    close: async () => {
      await Promise.all(bosses.map((boss) => boss.stop()));
      await pool.end();
      await database.drop();
    },
  };
}

const TABLES = `
select format('pawl.%I', relname) as name from pg_class
where relnamespace = 'pawl'::regnamespace and relkind in ('r', 'p') and not relispartition and relname <> 'migrations'`;

/** A table and the rows that its migration gave it. */
type Table = { readonly name: string; readonly rows: unknown };

async function tablesOf(pool: Pool): Promise<Table[]> {
  const { rows: tables } = await pool.query<{ name: string }>({ text: TABLES });
  const all: Table[] = [{ name: "pgboss.job", rows: null }];
  for (const { name } of tables) {
    const text = `select jsonb_agg(to_jsonb(t)) as rows from ${name} t`;
    all.push({ name, rows: (await pool.query<{ rows: unknown }>({ text })).rows[0]?.rows });
  }
  return all;
}

/** As if nothing had ever been written. */
async function empty({ pool, tables }: Ground): Promise<void> {
  // pg-boss looks after its tables meanwhile: who is in its way tries again.
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
export async function openPostgres(): Promise<StoreUnderTest> {
  ground ??= breakGround();
  const { url, pool, bosses } = await ground;
  await empty(await ground);
  const journal = createJournal({ url, pool, boss: bosses[0] });
  const rival = createJournal({ url, pool, boss: bosses[1] });
  return {
    journal,
    rival,
    executors: createExecutors(pool),
    workflows: createWorkflows(pool),
    schedules: createSchedules(pool, bosses[0].alarms),
    recovery: createRecovery(pool),
    deadLetters: createDeadLetters(pool),
    pauses: createPauses(pool),
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
      await pool.query({ text: "delete from pgboss.job where data->>'r' = $1", values: [runId] });
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
        error_message as "errorMessage", ended_at is not null as "hasEnded"
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
