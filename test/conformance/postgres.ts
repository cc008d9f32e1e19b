// The Postgres store under test, on a database of its own.

import type { RunId } from "@pawl/core/name/ids";
import { openPool } from "@pawl/platform/db/pool";
import type { Queryable } from "@pawl/platform/db/sql";
import { BossQueue } from "@pawl/platform/queue/boss";
import { createExecutors } from "@pawl/platform/store/executors-postgres";
import { PostgresJournal } from "@pawl/platform/store/journal-postgres";
import { createSchedules } from "@pawl/platform/store/schedules-postgres";
import { createDeadLetters } from "@pawl/platform/store/dead-letters-postgres";
import { readSlotWaits } from "@pawl/platform/store/slot-waits";
import { createRecovery } from "@pawl/platform/store/recovery-postgres";
import { createWorkflows } from "@pawl/platform/store/workflows-postgres";
import { freshDatabase } from "../support/postgres.ts";
import type { Seen, SeenEffect, SeenEvent, SeenLease, SeenRun, StoreUnderTest } from "./store.ts";

/** A store on a fresh database. */
export async function openPostgres(): Promise<StoreUnderTest> {
  const database = await freshDatabase();
  const { url } = database;
  const pool = openPool(url, { max: 8, name: "pawl-conformance" });
  const warn = (error: unknown): void => console.warn(error);
  const bosses = [new BossQueue(url, warn), new BossQueue(url, warn)] as const;
  for (const boss of bosses) await boss.start([]);
  const [journal, rival] = bosses.map((boss) => new PostgresJournal({ url, pool, boss })) as [
    PostgresJournal,
    PostgresJournal,
  ];
  return {
    journal,
    rival,
    executors: createExecutors(pool),
    workflows: createWorkflows(pool),
    schedules: createSchedules(pool, bosses[0].alarms),
    recovery: createRecovery(pool),
    deadLetters: createDeadLetters(pool),
    loseEvent: async (runId, seq) => {
      const text = "delete from run_events where run_id = $1 and seq = $2 returning *";
      const { rows } = await pool.query({ text, values: [runId, seq] });
      return async () => {
        const back =
          "insert into run_events select * from jsonb_populate_recordset(null::run_events, $1)";
        await pool.query({ text: back, values: [JSON.stringify(rows)] });
      };
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
      await Promise.all([journal.close(), rival.close(), ...bosses.map((boss) => boss.stop())]);
      await pool.end();
      await database.drop();
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
