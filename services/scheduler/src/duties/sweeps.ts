// Background duties of every scheduler: each finds something that no message reports, and submits it to the tick. All of them may run on
// several schedulers at once; the compare-and-swap makes the input of the second finder change nothing.

import { ensurePartitions } from "@pawl/platform/db/partitions";
import type { Queryable } from "@pawl/platform/db/query";
import { probe } from "@pawl/platform/lifecycle/probe";
import type { Executors, ExpiredLease } from "@pawl/platform/store/leases/leases";
import type { WalkCursor } from "@pawl/platform/store/recovery/recovery";
import type { Journal } from "@pawl/platform/store/tick/journal";
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import type { Logger } from "@pawl/platform/telemetry/log";
import { ALARMS } from "@pawl/platform/queue/alarm";
import type { KnownPauses } from "../commit/pauses.ts";
import type { LostAnswer } from "../inputs/input.ts";
import type { TickLoop } from "../tick/loop.ts";
import type { LeaseGrace } from "./lease-grace.ts";
import type { Waiting } from "../commit/waiting.ts";
import { type ResumeParts, resumeRuns } from "../commands/resume-runs.ts";
import { Sweeper } from "./sweeper.ts";

/** Found per sweep; a full batch sweeps again at once. */
const FOUND_MAX = 500;
/** Live runs that one sweep for forgotten work looks at. The next sweep continues behind them. */
const QUIET_PAGE = 200;
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
  /** Reads the database's clock; if the clock stepped, a lease grace begins. */
  readonly learnClock: () => Promise<void>;
  /** Called with the time until the next alarm of a schedule. */
  readonly onAlarm: (dueInMs: number) => void;
}

/**
 * Takes back the leases of executors that fell silent, and ends claims that are past their node's timeout although their executor lives.
 * The store's clock decides. Neither is judged while silence or age may have another reason (lease-grace.ts): after an outage, executors
 * first report what they could not report before.
 */
export async function sweepLeases(parts: SweepParts): Promise<boolean> {
  const { executors, leaseGrace, learnClock } = parts;
  const expired = await leaseGrace.look(async () => {
    const found = await executors.expiredLeases(FOUND_MAX);
    // Read afterwards: a step that makes leases look expired is known before they are judged.
    await learnClock();
    return found;
  });
  const lost = expired.filter(({ hasLeft, limitMs }) => {
    if (limitMs === undefined) return hasLeft || leaseGrace.isOver;
    return leaseGrace.isOver && leaseGrace.isCredible(limitMs);
  });
  if (lost.length > 0) probe("sweep.before-take-back");
  await Promise.all(lost.map((lease) => takeBack(parts, lease)));
  return lost.length === FOUND_MAX;
}

async function takeBack({ loop, log }: SweepParts, lease: ExpiredLease): Promise<void> {
  const { executorId, runId, nodeId, epoch, limitMs } = lease;
  const isOverdue = limitMs !== undefined;
  const silence = lease.hasLeft ? "stream_broken" : "lease_expired";
  const reason = isOverdue ? "overdue" : silence;
  const about = { claim: lease, reason, executorId } as const;
  const answer = await loop.ask<LostAnswer>((to) => ({ kind: "lost", ...about, answer: to }));
  // Its executor reported in time, or another scheduler found it too.
  if (answer === "stale") return;
  const fields = { run_id: runId, node_id: nodeId, epoch, executor_id: executorId };
  if (isOverdue) {
    METRICS.claimsOverdue.add(1);
    log.warn(
      { ...fields, limit_ms: limitMs },
      "ended a claim that is past its node's timeout; look at its executor, which should have",
    );
    return;
  }
  METRICS.leasesLost.add(1);
  log.info(fields, "took back a lost claim");
}

/** Ends runs whose deadline has passed. */
export async function sweepDeadlines({ journal, loop }: SweepParts): Promise<boolean> {
  const overdue = await journal.overdueRuns(FOUND_MAX);
  await Promise.all(
    overdue.map((runId) => loop.ask((answer) => ({ kind: "deadline", runId, answer }))),
  );
  return overdue.length === FOUND_MAX;
}

/** Surveys the queues: jobs of other schedulers, and jobs that become due. NOTIFY is only the faster way to learn of them. */
export async function sweepQueues(parts: SweepParts): Promise<boolean> {
  const { journal, waiting, known, loop, onAlarm } = parts;
  const { queues, nextRateSlotMs, openDeadLetters, pauseEpoch } = await journal.survey();
  known.noticed(pauseEpoch);
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

/** Makes the log's partitions before their month begins; `onBlocked` is called if other sessions hold locks. */
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

/**
 * Ends approvals whose deadline has passed, by the store's clock. The sweeper is armed for the next deadline that it finds, and by every tick
 * that opens an approval, so a deadline costs nothing until it passes. The interval finds approvals of schedulers that died. After
 * `slackMs` more by our clock, a time has passed by the store's.
 */
export function approvalSweeper(parts: SweepParts, intervalMs: number, slackMs: number): Sweeper {
  const { journal, loop, log } = parts;
  const duty = async (): Promise<boolean> => {
    const found = await journal.dueApprovals(FOUND_MAX);
    const due = found.filter(({ dueInMs }) => dueInMs <= 0);
    await Promise.all(
      due.map(({ dueInMs: _dueInMs, ...approval }) =>
        loop.ask((answer) => ({ kind: "due", ...approval, answer })),
      ),
    );
    // A deadline behind the next sweep needs no timer.
    const nextMs = found[due.length]?.dueInMs ?? Infinity;
    if (nextMs <= intervalMs) sweeper.soon(nextMs + slackMs);
    return due.length === FOUND_MAX;
  };
  const sweeper: Sweeper = new Sweeper({ name: "approvals", intervalMs, log, duty });
  return sweeper;
}

/** Looks for forgotten work among live runs without new events, a page at a time. */
export function createStrandedSweep(parts: ResumeParts, quietMs: number): () => Promise<boolean> {
  let after: WalkCursor | undefined;
  return async () => {
    const { runIds, next } = await parts.recovery.quietRuns({ quietMs, after, limit: QUIET_PAGE });
    after = next;
    if (runIds.length > 0) await resumeRuns(parts, runIds);
    return false;
  };
}
