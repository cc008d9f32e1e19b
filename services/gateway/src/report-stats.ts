// Reports the connections and streams of this gateway at regular times: in metrics, in the log, and to a scheduler, which keeps the history. A
// report that fails is left out: the next one comes after the interval.

import type { Pool } from "@pawl/platform/db/pool";
import type { PoolLoad } from "@pawl/platform/store/stats/stats";
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import { poolFields, poolValues } from "@pawl/platform/telemetry/pool-fields";
import type { WakeListener } from "@pawl/platform/wake/listen";
import type { Logger } from "@pawl/platform/telemetry/log";
import type { Scheduler } from "./request/forward.ts";
import type { Fanout } from "./watch/fanout.ts";

interface ReporterParts {
  readonly pool: Pool;
  readonly scheduler: Pick<Scheduler, "stats" | "usage">;
  readonly fanout: Pick<Fanout, "counts">;
  readonly wake: Pick<WakeListener, "usage">;
  readonly streamsMax: number;
  readonly log: Logger;
}

/** Starts to report. The returned function ends it. */
export function startStatsReporter(parts: ReporterParts, intervalMs: number): () => void {
  const processId = crypto.randomUUID();
  const report = async (): Promise<void> => {
    const pools = poolsOf(parts);
    for (const { value, labels } of poolValues(pools)) METRICS.poolConnections.set(value, labels);
    parts.log.info(poolFields(pools), "stats of this gateway");
    const wire = pools.map(({ pool: name, kind, size, inUse, idle }) => ({
      ...{ name, size, inUse, idle },
      hasStreams: kind === "streams",
    }));
    await parts.scheduler.stats.reportPools({ processId, pools: wire });
  };
  const tryReport = (): void =>
    void report().catch((error: unknown) => parts.log.debug({ err: error }, "stats not reported"));
  const timer = setInterval(tryReport, intervalMs);
  return () => clearInterval(timer);
}

function poolsOf({ pool, scheduler, fanout, wake, streamsMax }: ReporterParts): PoolLoad[] {
  const { streams } = fanout.counts;
  return [
    { kind: "connections", pool: "reads", ...pool.usage() },
    { kind: "connections", pool: "notifications", ...wake.usage() },
    // The streams that carry commands to schedulers: those with a call under way are in use.
    { kind: "streams", pool: "commands", ...scheduler.usage() },
    { kind: "streams", pool: "watchers", size: streamsMax, inUse: streams, idle: 0 },
  ];
}
