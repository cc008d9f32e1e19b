// Migrates the scheduler's database, opens its stores and queues, and learns the clock of the database.

import { NODE_CONFIGS } from "@pawl/core/definition/node-types";
import { schemasOf } from "@pawl/platform/config/settings";
import { openArchive } from "@pawl/platform/archive/open";
import { openBlobs } from "@pawl/platform/values/open";
import { DatabaseClock } from "@pawl/platform/db/clock";
import { migrate } from "@pawl/platform/db/migrate";
import { openPool } from "@pawl/platform/db/pool";
import { BossQueue } from "@pawl/platform/queue/boss";
import { installBoss } from "@pawl/platform/queue/boss-install";
import { BossWorkflowQueue } from "@pawl/platform/queue/boss-workflow-queue";
import { OccurrenceThread } from "@pawl/platform/queue/occurrences";
import { createArchive } from "@pawl/platform/store/archive/writes";
import { createAssistants } from "@pawl/platform/store/assistants/writes";
import { createBulks } from "@pawl/platform/store/bulks/writes";
import { createDeadLetters } from "@pawl/platform/store/dead-letters/writes";
import { createExecutors } from "@pawl/platform/store/leases/writes";
import { createJournal } from "@pawl/platform/store/tick/postgres";
import { createNodeTypes } from "@pawl/platform/store/node-types/writes";
import { createPauses } from "@pawl/platform/store/pauses/writes";
import { createRecovery } from "@pawl/platform/store/recovery/writes";
import { createRunFilters } from "@pawl/platform/store/filters/writes";
import { createSchedules } from "@pawl/platform/store/schedules/writes";
import { createStats } from "@pawl/platform/store/stats/writes";
import { createValueRows } from "@pawl/platform/store/values/writes";
import { createThreads } from "@pawl/platform/store/threads/writes";
import { createWorkflows } from "@pawl/platform/store/workflows/writes";
import { createWebhooks } from "@pawl/platform/store/webhooks/writes";
import { ValueStore } from "@pawl/platform/values/value-store";
import type { Logger } from "@pawl/platform/telemetry/log";
import { commandVisibilityMs } from "./duties/command-worker.ts";
import type { Config } from "./config.ts";

export type Stores = Awaited<ReturnType<typeof openStores>>;

export async function openStores(config: Config, log: Logger, onStep: (byMs: number) => void) {
  const url = config.DATABASE_URL.reveal();
  const onWait = (message: string): void => log.warn(message);
  const schemas = schemasOf(config);
  await migrate(url, onWait, schemas);
  await installBoss(url, onWait, schemas);
  const max = config.PAWL_DB_POOL_SIZE;
  const pool = openPool(url, { max, name: "pawl-scheduler", schemas });
  const blobs = await openBlobs(config, pool);
  const archiveStore = await openArchive(config);
  // Renewals have a pool of their own. They never wait behind reads, and work while the database has no connection free.
  const livenessPool = openPool(url, { max: 1, name: "pawl-liveness", schemas, keepsIdle: true });
  const clock = new DatabaseClock({ onStep });
  const learnClock = (): Promise<void> => clock.learn(livenessPool);
  await learnClock();
  // Another server may have taken over, with another clock. If this fails, the next sweep of the leases learns the clock.
  const onConnected = (): void => void learnClock().catch(() => {});
  const warn = (error: unknown): void => log.warn({ err: error }, "pg-boss complained");
  const boss = new BossQueue(url, warn, schemas);
  await boss.start(Object.keys(NODE_CONFIGS));
  const visibilityTimeoutMs = commandVisibilityMs(config);
  const workflowQueue = new BossWorkflowQueue({ pool, boss: boss.library, visibilityTimeoutMs });
  await workflowQueue.ensure();
  return {
    pool,
    blobs,
    archiveStore,
    archive: createArchive(pool),
    livenessPool,
    boss,
    workflowQueue,
    clock,
    learnClock,
    journal: createJournal({ url, pool, queue: boss, schemas, onConnected }),
    workflows: createWorkflows(pool),
    occurrences: new OccurrenceThread(),
    filters: createRunFilters(pool),
    schedules: createSchedules(pool, boss.alarms),
    assistants: createAssistants(pool),
    threads: createThreads(pool),
    executors: createExecutors(livenessPool),
    recovery: createRecovery(pool, boss),
    nodeTypes: createNodeTypes(pool),
    pauses: createPauses(pool),
    webhooks: createWebhooks(pool),
    values: new ValueStore(createValueRows(pool), blobs, config.PAWL_VALUES_INLINE_BYTES),
    deadLetters: createDeadLetters(pool),
    bulks: createBulks(pool),
    stats: createStats(pool),
    /** The length of an interval of samples. */
    statsMs: config.PAWL_STATS_MS,
    hasQueue: (type: string): Promise<boolean> => boss.exists(type),
    ensureQueues: async (types: readonly string[]): Promise<void> => {
      for (const type of types) if (!boss.isKnown(type)) await boss.ensure(type);
    },
  };
}
