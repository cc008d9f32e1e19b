// Starts every background duty of a scheduler, each on its interval.

import type { Pool } from "@pawl/platform/db/pool";
import { forgetCommands } from "./command-worker.ts";
import type { Config } from "../config.ts";
import type { AlarmClock } from "./alarm-clock.ts";
import { type PauseSweepParts, pauseSweeper } from "./pause-sweeper.ts";
import { LeaseGrace, RECONNECT_MS } from "./lease-grace.ts";
import { sweepRetention } from "./retention.ts";
import { Sweeper } from "./sweeper.ts";
import {
  approvalSweeper,
  createStrandedSweep,
  signalSweeper,
  sweepDeadlines,
  sweepExecutors,
  sweepLeases,
  sweepPartitions,
  sweepQueues,
  type SweepParts,
} from "./sweeps.ts";

const DAY_MS = 24 * 3_600_000;
/** The scheduler makes partitions months ahead, so a few tries an hour are enough. */
const BLOCKED_RETRY_MS = 10 * 60_000;
/** After this many sweeps without new events, a sweep checks that the jobs, leases and child runs of a run exist. */
const QUIET_SWEEPS = 3;
/** Added to a grace. The clocks of scheduler and database differ by less, so the grace has passed by both. */
const CLOCK_SLACK_MS = 10;

type Needed = Omit<SweepParts, "leaseGrace" | "onAlarm"> &
  Parameters<typeof createStrandedSweep>[0] & {
    readonly pool: Pool;
    readonly now: () => number;
    readonly steady: () => number;
    readonly workflowQueue: Parameters<typeof forgetCommands>[0];
    readonly alarms: AlarmClock;
    readonly pauses: PauseSweepParts["pauses"];
  };

export function startSweepers(config: Config, needed: Needed) {
  const { pool, workflowQueue, alarms, now, steady, log } = needed;
  const every = config.PAWL_SWEEP_MS;
  const quietMs = every * QUIET_SWEEPS;
  const leaseGrace = new LeaseGrace({
    renewMs: config.PAWL_RENEW_MS,
    sweepMs: every,
    now: steady,
    onBegin: (forMs) => sweepers.leases.soon(forMs + CLOCK_SLACK_MS),
  });
  const parts: SweepParts = { ...needed, leaseGrace, onAlarm: alarms.ring };
  const sweeper = (
    name: string,
    intervalMs: number,
    duty: (sweep: SweepParts) => Promise<boolean>,
  ): Sweeper => new Sweeper({ name, intervalMs, duty: () => duty(parts), log });
  const onBlocked = (partition: string): void => {
    const retry_ms = BLOCKED_RETRY_MS;
    log.warn({ partition, retry_ms }, "a partition of the log waits for other sessions' locks");
    sweepers.partitions.soon(BLOCKED_RETRY_MS);
  };
  const pausing = pauseSweeper(needed, every);
  const sweepers = {
    leases: sweeper("leases", every, sweepLeases),
    deadlines: sweeper("deadlines", every, sweepDeadlines),
    approvals: approvalSweeper(parts, every, CLOCK_SLACK_MS),
    signals: signalSweeper(parts, every, CLOCK_SLACK_MS),
    pauses: pausing.sweeper,
    queues: sweeper("queues", config.PAWL_POLL_MS, sweepQueues),
    executors: sweeper("executors", every * 30, sweepExecutors),
    stranded: sweeper("stranded", quietMs, createStrandedSweep(needed, quietMs)),
    partitions: sweeper("partitions", DAY_MS, () => sweepPartitions(pool, now, onBlocked)),
    retention: sweeper("retention", config.PAWL_RETENTION_MS, () =>
      sweepRetention({ pool, policy: config.PAWL_RETENTION, now, log }),
    ),
    commands: sweeper("commands", DAY_MS, () => forgetCommands(workflowQueue)),
  };
  const { leases, ...others } = sweepers;
  for (const each of Object.values(others)) each.start();
  leases.soon(RECONNECT_MS);
  alarms.start();
  return { sweepers, leaseGrace, onUnsettled: pausing.expect };
}
