// Takes a sample of the system at the beginning of each interval: in the log, in metrics and in the history. Each scheduler also keeps its own
// pools.
//
// Race: several schedulers take the sample of one interval. The history keeps the first (store/stats). The others show what it has, so the
// counting statements run once for each interval. A scheduler that is killed while it counts leaves the sample to the next one.

import { DEFAULT_TENANT } from "@pawl/core/name/tenant";
import { executedDefinition } from "@pawl/core/log/execution";
import { CLOCK_SLACK_MS } from "@pawl/platform/db/clock";
import type { Pool, PoolUsage } from "@pawl/platform/db/pool";
import { readNewestStats } from "@pawl/platform/store/stats/reads";
import type { PoolLoad, ProcessName, Stats } from "@pawl/platform/store/stats/stats";
import { readLoad } from "@pawl/platform/store/survey/reads";
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import { poolFields, poolValues } from "@pawl/platform/telemetry/pool-fields";
import type { Logger } from "@pawl/platform/telemetry/log";
import type { Definitions } from "../commit/definitions.ts";
import type { ConnectedExecutors } from "../sessions/connected-executors.ts";
import { loadFields, showLoad } from "./show-load.ts";
import { Sweeper } from "./sweeper.ts";

export interface StatsParts {
  readonly stats: Stats;
  readonly pool: Pool;
  readonly livenessPool: Pool;
  readonly connected: ConnectedExecutors;
  readonly definitions: Definitions;
  readonly journal: { readonly id: string; usage(): PoolUsage };
  readonly jobs: { usage(): PoolUsage };
  readonly log: Logger;
}

const FORGET_EVERY_MS = 3_600_000;
/** The most rows that one statement deletes. */
const FORGOTTEN_MAX = 1_000;

/** The sweeper that takes samples, and the one that deletes old ones. */
export function statsSweepers(
  parts: StatsParts,
  config: { readonly PAWL_STATS_MS: number; readonly PAWL_STATS_KEPT_MS: number },
) {
  const { stats, log } = parts;
  const statsLog = new Sweeper({
    ...{ name: "stats-log", log, intervalMs: FORGET_EVERY_MS },
    duty: () => stats.forget(config.PAWL_STATS_KEPT_MS, FORGOTTEN_MAX),
  });
  return { stats: sampleSweeper(parts, config.PAWL_STATS_MS), statsLog };
}

function sampleSweeper(parts: StatsParts, intervalMs: number): Sweeper {
  const sweeper: Sweeper = new Sweeper({
    name: "stats",
    log: parts.log,
    // The duty sets its own timer. This one is for a duty that failed.
    intervalMs: 2 * intervalMs,
    duty: async () => {
      const { isMissing, nextInMs } = await parts.stats.due(intervalMs);
      sweeper.soon(nextInMs + CLOCK_SLACK_MS);
      await takeSample(parts, intervalMs, isMissing);
      return false;
    },
  });
  return sweeper;
}

async function takeSample(
  parts: StatsParts,
  intervalMs: number,
  isMissing: boolean,
): Promise<void> {
  const { stats, pool, definitions, journal, log } = parts;
  const pools = poolsOf(parts);
  for (const { value, labels } of poolValues(pools)) METRICS.poolConnections.set(value, labels);
  const process: ProcessName = { processId: journal.id, service: "scheduler" };
  await stats.putPools(intervalMs, process, pools);
  const newest = isMissing ? undefined : await readNewestStats(pool);
  if (newest !== undefined) {
    showLoad(newest);
    log.info(poolFields(pools), "stats of this scheduler");
    return;
  }
  const sample = await readLoad(pool, DEFAULT_TENANT, async (definitionId, nodeId, iteration) => {
    // A user may delete a test run and its definition meanwhile.
    const graph = await definitions.graph(definitionId).catch(() => undefined);
    return graph && executedDefinition(graph, nodeId, iteration)?.type;
  });
  showLoad(sample);
  const isKept = await stats.put(intervalMs, sample);
  const fields = { ...(isKept ? loadFields(sample) : {}), ...poolFields(pools) };
  log.info(fields, isKept ? "stats" : "stats of this scheduler");
}

function poolsOf({ pool, livenessPool, journal, jobs, connected }: StatsParts): PoolLoad[] {
  const { sessions } = connected;
  const inUse = sessions.filter(({ heldCount }) => heldCount > 0).length;
  return [
    { kind: "connections", pool: "reads", ...pool.usage() },
    { kind: "connections", pool: "liveness", ...livenessPool.usage() },
    { kind: "connections", pool: "tick", ...journal.usage() },
    { kind: "connections", pool: "notifications", ...jobs.usage() },
    // The work streams of executors: those that hold claims are in use.
    {
      kind: "streams",
      pool: "executors",
      size: sessions.length,
      inUse,
      idle: sessions.length - inUse,
    },
  ];
}
