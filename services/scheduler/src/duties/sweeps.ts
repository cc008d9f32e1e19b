// Background duties, on every scheduler: each finds what nobody else would say, and offers it to the tick as an input. All of
// them may run on several schedulers at once; the compare-and-swap makes the second finder's input a no-op.

import { ensurePartitions } from "@pawl/platform/db/partitions";
import type { Queryable } from "@pawl/platform/db/sql";
import type { Executors } from "@pawl/platform/store/leases/leases";
import type { Journal } from "@pawl/platform/store/tick/journal";
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import type { Logger } from "@pawl/platform/telemetry/log";
import { ALARMS } from "@pawl/platform/queue/alarm";
import type { KnownPauses } from "../commit/known-pauses.ts";
import type { TickLoop } from "../tick/loop.ts";
import type { LeaseGrace } from "./lease-grace.ts";
import type { Waiting } from "../commit/waiting.ts";

/** Found per sweep; a full batch sweeps again at once. */
const FOUND_MAX = 500;
/** Far beyond any outage after which an executor may still be connected and renew. */
const DEAD_EXECUTOR_MS = 7 * 24 * 3_600_000;
const PARTITION_MONTHS = 3;

export interface SweepParts {
  readonly loop: TickLoop;
  readonly journal: Journal;
  readonly executors: Executors;
  readonly waiting: Waiting;
  readonly known: KnownPauses;
  readonly log: Logger;
  readonly leaseGrace: LeaseGrace;
  /** Reads the database's clock; a step of it begins leaseGrace. */
  readonly learnClock: () => Promise<void>;
  /** Told when the next alarm of a schedule goes off. */
  readonly onAlarm: (dueInMs: number) => void;
}

/** Ends runs whose deadline has passed. */
export async function sweepDeadlines({ journal, loop }: SweepParts): Promise<boolean> {
  const overdue = await journal.overdueRuns(FOUND_MAX);
  await Promise.all(
    overdue.map(async (runId) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      loop.submit({ kind: "deadline", runId, answer: { resolve, reject } });
      await promise;
    }),
  );
  return overdue.length === FOUND_MAX;
}

/** Looks at the queues: what others put there, and what becomes due. NOTIFY is only the faster way to learn of it. */
export async function sweepQueues(parts: SweepParts): Promise<boolean> {
  const { journal, waiting, known, loop, onAlarm } = parts;
  const { queues, nextRateSlotMs, openDeadLetters, pauseEpoch } = await journal.survey();
  known.heard(pauseEpoch);
  METRICS.openDeadLetters.set(openDeadLetters);
  if (nextRateSlotMs !== undefined) waiting.rateSlotFrees(nextRateSlotMs);
  for (const { nodeType, waitingCount, dueInMs, ageMs } of queues) {
    METRICS.queueDepth.set(waitingCount, { queue: nodeType });
    METRICS.queueOldestAge.set((ageMs ?? 0) / 1_000, { queue: nodeType });
    if (dueInMs !== undefined && nodeType !== ALARMS) waiting.enqueued(nodeType, dueInMs);
    if (dueInMs !== undefined && nodeType === ALARMS) onAlarm(dueInMs);
  }
  loop.nudge();
  return false;
}

/** Has the log's partitions ready before their month begins; `onBlocked` is told where others hold locks. */
export async function sweepPartitions(
  db: Queryable,
  now: () => number,
  onBlocked: (partition: string) => void,
): Promise<boolean> {
  await ensurePartitions(db, { from: new Date(now()), months: PARTITION_MONTHS, onBlocked });
  return false;
}

/** Forgets executors that are long gone. */
export async function sweepExecutors({ executors }: SweepParts): Promise<boolean> {
  await executors.forgetDead(DEAD_EXECUTOR_MS);
  return false;
}
