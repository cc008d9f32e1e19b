// Where the scheduler's adapters meet its use cases.

import { NODE_CONFIGS } from "@pawl/core/definition/node-types";
import { migrate } from "@pawl/platform/db/migrate";
import { openPool, type Pool } from "@pawl/platform/db/pool";
import type { Running } from "@pawl/platform/lifecycle/service";
import { BossQueue } from "@pawl/platform/queue/boss";
import { serve } from "@pawl/platform/rpc/implementation";
import { startGrpcServer } from "@pawl/platform/rpc/grpc-server";
import { createExecutors } from "@pawl/platform/store/executors-postgres";
import { PostgresJournal } from "@pawl/platform/store/journal-postgres";
import { createWorkflows } from "@pawl/platform/store/workflows-postgres";
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import { startProbeServer } from "@pawl/platform/telemetry/http";
import type { Logger } from "@pawl/platform/telemetry/log";
import type { Telemetry } from "@pawl/platform/telemetry/start";
import { WorkerService } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import type { Config } from "./config.ts";
import { commandServices } from "./rpc/commands.ts";
import { Sweeper } from "./sweep/sweeper.ts";
import { sweepDeadlines, sweepExecutors, sweepLeases, sweepQueues } from "./sweep/sweeps.ts";
import { RunCache } from "./tick/cache.ts";
import { Definitions } from "./tick/definitions.ts";
import { TickLoop } from "./tick/loop.ts";
import { Waiting } from "./tick/waiting.ts";
import { drainExecutors } from "./work/drain.ts";
import { Roster } from "./work/roster.ts";
import { serveWork } from "./work/work-service.ts";

/** Folds kept in memory; a run beyond it is read again when something happens to it. */
const CACHED_RUNS_MAX = 5_000;
const STOP_GRACE_MS = 3_000;

interface Surroundings {
  readonly log: Logger;
  readonly telemetry: Telemetry;
}

export async function startScheduler(
  config: Config,
  { log, telemetry }: Surroundings,
): Promise<Running> {
  const url = config.DATABASE_URL.reveal();
  const schedulerId = crypto.randomUUID();
  await migrate(url);
  const pool = openPool(url, { max: config.PAWL_DB_POOL_SIZE, name: "pawl-scheduler" });
  const boss = new BossQueue(url, (error) => log.warn({ err: error }, "pg-boss complained"));
  await boss.start(Object.keys(NODE_CONFIGS));
  const ensureQueues = async (types: readonly string[]): Promise<void> => {
    for (const type of types) if (!boss.isKnown(type)) await boss.ensure(type);
  };

  const now = Date.now;
  const journal = new PostgresJournal({ url, pool, boss });
  const workflows = createWorkflows(pool);
  const executors = createExecutors(pool);
  const definitions = new Definitions(workflows);
  const cache = new RunCache({ journal, definitions, max: CACHED_RUNS_MAX });
  const waiting = new Waiting(now);
  const roster = new Roster();
  const loop = new TickLoop({
    ...{ journal, cache, definitions, roster, waiting, now },
    onTick: ({ batchSize, ms }) => {
      METRICS.tickDuration.record(ms / 1_000);
      METRICS.tickBatchSize.record(batchSize);
    },
    onConflict: () => METRICS.tickConflicts.add(1),
    onError: (error, inputs) => {
      METRICS.internalFaults.add(1);
      log.error({ err: error, batch: inputs.length }, "a tick failed");
    },
  });
  const sweepers = startSweepers(config, { loop, journal, executors, waiting, now, log });

  const services = [
    ...commandServices({ loop, journal, workflows, definitions, now, ensureQueues }, pool),
    serve(WorkerService, {
      work: (stream) =>
        serveWork(
          {
            ...{ schedulerId, loop, roster, executors, log, ensureQueues },
            leaseMs: config.PAWL_LEASE_MS,
            renewMs: config.PAWL_RENEW_MS,
            graceMs: config.PAWL_GRACE_MS,
            sweepSoon: (afterMs) => sweepers.leases.soon(afterMs + 10),
          },
          stream,
        ),
    }),
  ];
  const server = await startGrpcServer({
    host: config.PAWL_SCHEDULER_HOST,
    port: config.PAWL_SCHEDULER_PORT,
    services,
    reflection: config.PAWL_REFLECTION,
    onInternal: ({ requestId, error }) => {
      METRICS.internalFaults.add(1);
      log.error({ err: error, request_id: requestId }, "an RPC failed inside");
    },
  });
  const probes = await startProbeServer({
    host: config.PAWL_METRICS_HOST,
    port: config.PAWL_METRICS_PORT,
    metricsText: () => telemetry.metricsText(),
    notReady: () => databaseFault(pool),
  });

  return {
    port: server.port,
    stop: async () => {
      server.setServing(false);
      drainExecutors(roster);
      await Promise.all(Object.values(sweepers).map((sweeper) => sweeper.stop()));
      await loop.stop();
      await server.stop(STOP_GRACE_MS);
      await Promise.all([journal.close(), boss.stop(), pool.end(), probes.close()]);
    },
  };
}

function startSweepers(config: Config, parts: Parameters<typeof sweepLeases>[0]) {
  const { log } = parts;
  const every = config.PAWL_SWEEP_MS;
  const sweeper = (
    name: string,
    intervalMs: number,
    duty: (sweep: typeof parts) => Promise<boolean>,
  ): Sweeper => new Sweeper({ name, intervalMs, duty: () => duty(parts), log });
  const sweepers = {
    leases: sweeper("leases", every, sweepLeases),
    deadlines: sweeper("deadlines", every, sweepDeadlines),
    queues: sweeper("queues", config.PAWL_POLL_MS, sweepQueues),
    executors: sweeper("executors", every * 30, sweepExecutors),
  };
  for (const each of Object.values(sweepers)) each.start();
  return sweepers;
}

async function databaseFault(pool: Pool): Promise<string | undefined> {
  try {
    await pool.query({ text: "select 1" });
    return undefined;
  } catch {
    return "the database cannot be reached";
  }
}
