// Background duties of every scheduler. Each finds something that no message reports, and submits it to the tick. Race: several schedulers
// run a duty at once. The compare-and-swap makes the second input change nothing.

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

/** The most findings of one sweep. After a full batch it sweeps again at once. */
const FOUND_MAX = 500;
/** The live runs that one sweep checks for forgotten work. The next sweep continues behind them. */
const QUIET_PAGE = 200;
/** Far longer than any outage after which an executor may still be connected and renew. */
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
  /** Reads the database's clock. If the clock stepped, a lease grace begins. */
  readonly learnClock: () => Promise<void>;
  /** Called with the time until the next alarm of a schedule. */
  readonly onAlarm: (dueInMs: number) => void;
  /** Called with the time until the next webhook delivery is due. */
  readonly onWebhookDue: (dueInMs: number) => void;
  /** Called with the time until the next step of a bulk is due. */
  readonly onBulkDue: (dueInMs: number) => void;
}

/**
 * Takes back the leases of silent executors, and ends claims past their node's timeout whose executor lives. The store's clock decides. It
 * judges neither while silence or age may have another reason (lease-grace.ts). After an outage, executors first report the results that
 * they could not report before.
 */
export async function sweepLeases(parts: SweepParts): Promise<boolean> {
  const { executors, leaseGrace, learnClock } = parts;
  const expired = await leaseGrace.look(async () => {
    const found = await executors.expiredLeases(FOUND_MAX);
    // Read the clock after the leases: a step that makes leases look expired is then known before they are judged.
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
  // The executor reported in time, or another scheduler found the claim too.
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

/** Surveys the queues for jobs of other schedulers and for jobs that become due; also their webhook deliveries and bulks. A notification is only faster. */
export async function sweepQueues(parts: SweepParts): Promise<boolean> {
  const { journal, waiting, known, loop, onAlarm, onWebhookDue, onBulkDue } = parts;
  const survey = await journal.survey();
  const { queues, nextRateSlotMs, openDeadLetters, pauseEpoch } = survey;
  known.noticed(pauseEpoch);
  METRICS.openDeadLetters.set(openDeadLetters);
  METRICS.webhooksPending.set(survey.webhooksPending);
  METRICS.webhookOldestAge.set(Math.max(0, -(survey.webhookDueMs ?? 0)) / 1_000);
  if (survey.webhookDueMs !== undefined) onWebhookDue(survey.webhookDueMs);
  if (survey.bulkDueMs !== undefined) onBulkDue(survey.bulkDueMs);
  if (nextRateSlotMs !== undefined) waiting.rateSlotFrees(nextRateSlotMs);
  for (const { nodeType, waitingCount, dueInMs, ageMs } of queues) {
    METRICS.queueDepth.set(waitingCount, { queue: nodeType });
    METRICS.queueOldestAge.set((ageMs ?? 0) / 1_000, { queue: nodeType });
    if (dueInMs !== undefined && nodeType !== ALARMS) waiting.enqueued(nodeType, dueInMs);
    if (dueInMs !== undefined && nodeType === ALARMS) onAlarm(dueInMs);
  }
  loop.poll();
  return false;
}

/** Makes the log's partitions before their month begins. It calls `onBlocked` if other sessions hold locks. */
export async function sweepPartitions(
  db: Queryable,
  now: () => number,
  onBlocked: (partition: string) => void,
): Promise<boolean> {
  await ensurePartitions(db, { from: new Date(now()), months: PARTITION_MONTHS, onBlocked });
  return false;
}

/** Deletes the rows of executors that disconnected long ago. */
export async function sweepExecutors({ executors }: SweepParts): Promise<boolean> {
  await executors.forgetDead(DEAD_EXECUTOR_MS);
  return false;
}

/** Ends approvals whose deadline has passed by the store's clock. */
export const approvalSweeper = (parts: SweepParts, intervalMs: number, slackMs: number): Sweeper =>
  dueSweeper(parts, {
    ...{ name: "approvals", intervalMs, slackMs },
    find: () => parts.journal.dueApprovals(FOUND_MAX),
    end: ({ dueInMs: _dueInMs, ...approval }) =>
      parts.loop.ask((answer) => ({ kind: "due", ...approval, answer })),
  });

/** Ends waits for signals whose deadline has passed by the store's clock. */
export const signalSweeper = (parts: SweepParts, intervalMs: number, slackMs: number): Sweeper =>
  dueSweeper(parts, {
    ...{ name: "signals", intervalMs, slackMs },
    find: () => parts.journal.dueWaits(FOUND_MAX),
    end: ({ dueInMs: _dueInMs, ...wait }) =>
      parts.loop.ask((answer) => ({ kind: "signal_due", ...wait, answer })),
  });

interface DueDuty<Due> {
  readonly name: string;
  readonly intervalMs: number;
  /** Added to a deadline, because our clock may be ahead of the store's clock. */
  readonly slackMs: number;
  /** At most FOUND_MAX, the soonest first. */
  readonly find: () => Promise<readonly Due[]>;
  readonly end: (due: Due) => Promise<unknown>;
}

/**
 * The sweeper sets a timer for the next deadline that it finds, and every tick that opens something with a deadline sets one. So a deadline
 * costs nothing until it passes. The interval finds deadlines of schedulers that died.
 */
function dueSweeper<Due extends { readonly dueInMs: number }>(
  { log }: SweepParts,
  { name, intervalMs, slackMs, find, end }: DueDuty<Due>,
): Sweeper {
  const duty = async (): Promise<boolean> => {
    const found = await find();
    const due = found.filter(({ dueInMs }) => dueInMs <= 0);
    const ends = await Promise.allSettled(due.map(end));
    // A deadline after the next sweep needs no timer.
    const nextMs = found[due.length]?.dueInMs ?? Infinity;
    if (nextMs <= intervalMs) sweeper.soon(nextMs + slackMs);
    // One run at fault delays no other. The next sweep tries it again.
    const fault = ends.find((each) => each.status === "rejected");
    if (fault !== undefined) throw fault.reason;
    return due.length === FOUND_MAX;
  };
  const sweeper: Sweeper = new Sweeper({ name, intervalMs, log, duty });
  return sweeper;
}

/** Checks live runs without new events for forgotten work, a page at a time. */
export function createStrandedSweep(parts: ResumeParts, quietMs: number): () => Promise<boolean> {
  let after: WalkCursor | undefined;
  return async () => {
    const { runIds, next } = await parts.recovery.quietRuns({ quietMs, after, limit: QUIET_PAGE });
    after = next;
    if (runIds.length > 0) await resumeRuns(parts, runIds);
    return false;
  };
}
