// Starts every background duty of a scheduler, each on its interval.

import { LIMITS } from "@pawl/core/data/limits";
import { CLOCK_SLACK_MS } from "@pawl/platform/db/clock";
import type { Webhooks } from "@pawl/platform/store/webhooks/webhooks";
import type { WebhookDesk } from "../sessions/webhook-desk.ts";
import type { ArchiveStore } from "@pawl/platform/archive/store";
import type { Pool } from "@pawl/platform/db/pool";
import type { Blobs } from "@pawl/platform/values/blobs";
import type { ValueStore } from "@pawl/platform/values/value-store";
import { forgetCommands } from "./command-worker.ts";
import type { Config } from "../config.ts";
import type { AlarmClock } from "./alarm-clock.ts";
import { bulkSweepers, type BulkSweepParts } from "./bulks.ts";
import { type PauseSweepParts, pauseSweeper } from "./pause-sweeper.ts";
import { LeaseGrace, RECONNECT_MS } from "./lease-grace.ts";
import { type RemovalParts, sweepRemovals } from "./removals.ts";
import { sweepRetention } from "./retention.ts";
import { type StatsParts, statsSweepers } from "./stats.ts";
import { Sweeper } from "./sweeper.ts";
import { temporarySweeper } from "./temporary.ts";
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

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Values that one sweep removes. After a full batch it sweeps again at once. */
const VALUES_MAX = 200;
/** The scheduler makes partitions months ahead, so a few tries an hour are enough. */
const BLOCKED_RETRY_MS = 10 * 60_000;
/** After this many sweeps without new events, a sweep checks that the jobs, leases and child runs of a run exist. */
const QUIET_SWEEPS = 3;
/** The most deliveries that one statement deletes. */
const FORGOTTEN_MAX = 1_000;

type Needed = Omit<SweepParts, "leaseGrace" | "onAlarm" | "onWebhookDue" | "onBulkDue"> &
  BulkSweepParts &
  StatsParts &
  RemovalParts &
  Parameters<typeof createStrandedSweep>[0] & {
    readonly pool: Pool;
    readonly now: () => number;
    readonly steady: () => number;
    readonly workflowQueue: Parameters<typeof forgetCommands>[0];
    readonly alarms: AlarmClock;
    readonly desk: WebhookDesk;
    readonly webhooks: Pick<Webhooks, "forget">;
    readonly pauses: PauseSweepParts["pauses"];
    readonly values: ValueStore;
    readonly blobs: Blobs;
    readonly archiveStore: ArchiveStore | undefined;
  };

export function startSweepers(config: Config, needed: Needed) {
  const { pool, workflowQueue, alarms, desk, webhooks, now, steady, values, log } = needed;
  const { blobs, archiveStore } = needed;
  const archive = archiveStore && { archive: archiveStore, blobs, log };
  const graceMs = config.PAWL_VALUES_GRACE_MS;
  const every = config.PAWL_SWEEP_MS;
  const quietMs = every * QUIET_SWEEPS;
  const leaseGrace = new LeaseGrace({
    renewMs: config.PAWL_RENEW_MS,
    sweepMs: every,
    now: steady,
    onBegin: (forMs) => sweepers.leases.soon(forMs + CLOCK_SLACK_MS),
  });
  const bulks = bulkSweepers(needed, config.PAWL_POLL_MS);
  const parts: SweepParts = {
    ...needed,
    leaseGrace,
    onAlarm: alarms.ring,
    onWebhookDue: (ms) => desk.expect(ms),
    onBulkDue: bulks.expect,
  };
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
  const temporary = temporarySweeper(needed, {
    ...{ intervalMs: every, graceMs: config.PAWL_TEMPORARY_GRACE_MS, slackMs: CLOCK_SLACK_MS },
  });
  const sweepers = {
    leases: sweeper("leases", every, sweepLeases),
    deadlines: sweeper("deadlines", every, sweepDeadlines),
    approvals: approvalSweeper(parts, every, CLOCK_SLACK_MS),
    signals: signalSweeper(parts, every, CLOCK_SLACK_MS),
    pauses: pausing.sweeper,
    temporary: temporary.sweeper,
    queues: sweeper("queues", config.PAWL_POLL_MS, sweepQueues),
    executors: sweeper("executors", every * 30, sweepExecutors),
    stranded: sweeper("stranded", quietMs, createStrandedSweep(needed, quietMs)),
    partitions: sweeper("partitions", DAY_MS, () => sweepPartitions(pool, now, onBlocked)),
    // The desk sweeps when a delivery is due. The survey of the queues finds those of other schedulers.
    webhooks: sweeper("webhooks", DAY_MS, () => desk.sweep()),
    webhookLog: sweeper("webhook-log", DAY_MS, () =>
      webhooks.forget(LIMITS.webhookKeptMs, FORGOTTEN_MAX),
    ),
    values: sweeper("values", Math.min(HOUR_MS, graceMs), () =>
      values.sweep({ graceMs, limit: VALUES_MAX }),
    ),
    ...bulks.sweepers,
    retention: sweeper("retention", config.PAWL_RETENTION_MS, () =>
      sweepRetention({ pool, policy: config.PAWL_RETENTION, now, log, archive }),
    ),
    removals: sweeper("removals", quietMs, () => sweepRemovals(needed)),
    ...statsSweepers(needed, config),
    commands: sweeper("commands", DAY_MS, () => forgetCommands(workflowQueue)),
  };
  const { leases, ...others } = sweepers;
  for (const each of Object.values(others)) each.start();
  leases.soon(RECONNECT_MS);
  alarms.start();
  const { expect: onUnsettled } = pausing;
  return { sweepers, leaseGrace, onUnsettled, onTemporaryEnd: temporary.expect };
}
