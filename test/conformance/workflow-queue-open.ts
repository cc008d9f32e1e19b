// Workflow queues under test: both kinds on one clock and one way of making ids, so that they may be compared word for word.

import { BossQueue } from "@pawl/platform/queue/boss";
import { BossWorkflowQueue } from "@pawl/platform/queue/boss-workflow-queue";
import { MemoryWorkflowQueue } from "@pawl/platform/queue/memory-workflow-queue.fixture";
import type { WorkflowQueue } from "@pawl/platform/queue/workflow-queue";
import { openPool } from "@pawl/platform/db/pool";
import { freshDatabase } from "../support/postgres.ts";

export const VISIBILITY_MS = 60_000;
/** Long ago, so that no clock of a database is taken for this one. */
const BEGINNING = Date.UTC(2020, 0, 1);

export interface QueueUnderTest {
  readonly queue: WorkflowQueue;
  /** A second worker process's view of the same jobs. */
  readonly rival: WorkflowQueue;
  /** Moves the clock on. */
  readonly advance: (ms: number) => void;
  /** As if nothing had ever been enqueued; the clock and the ids begin again. */
  readonly empty: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export type OpenQueue = () => Promise<QueueUnderTest>;

/** A clock that the test moves, and ids in order. */
function beginning() {
  let now = BEGINNING;
  let made = 0;
  return {
    options: {
      now: () => now,
      newId: () => {
        made += 1;
        return `00000000-0000-4000-8000-${String(made).padStart(12, "0")}`;
      },
      visibilityTimeoutMs: VISIBILITY_MS,
    },
    advance: (ms: number): void => {
      now += ms;
    },
    restart: (): void => {
      now = BEGINNING;
      made = 0;
    },
  };
}

export async function openMemoryQueue(): Promise<QueueUnderTest> {
  const { options, advance, restart } = beginning();
  let queue = new MemoryWorkflowQueue(options);
  return {
    get queue() {
      return queue;
    },
    get rival() {
      return queue;
    },
    advance,
    empty: async () => {
      restart();
      queue = new MemoryWorkflowQueue(options);
    },
    close: async () => {},
  };
}

/** Also says how to put plain jobs into pg-boss, as its own scheduler does. */
export interface BossUnderTest extends QueueUnderTest {
  readonly boss: BossQueue["library"];
}

export async function openBossQueue(): Promise<BossUnderTest> {
  const { options, advance, restart } = beginning();
  const database = await freshDatabase();
  const pool = openPool(database.url, { max: 4, name: "pawl-conformance" });
  const boss = new BossQueue(database.url, (error) => console.warn(error));
  await boss.start([]);
  const open = () => new BossWorkflowQueue({ pool, boss: boss.library, ...options });
  const queue = open();
  await queue.ensure();
  return {
    queue,
    rival: open(),
    boss: boss.library,
    advance,
    empty: async () => {
      restart();
      // pg-boss maintains its tables meanwhile, so a statement that collides with it is tried again.
      await pool.transaction(async (db) => {
        for (const table of ["workflow_jobs", "run_claims", "pgboss.job"])
          await db.query({ text: `delete from ${table}` });
      });
    },
    close: async () => {
      await boss.stop();
      await pool.end();
      await database.drop();
    },
  };
}
