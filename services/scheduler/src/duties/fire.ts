// Fires schedules: takes their alarms, starts the runs that their policies ask for, and sets the next alarms.
//
// Every occurrence starts exactly one run. The request id of the run names the schedule and the occurrence, and is unique in the store. The
// transaction that removes the alarm and advances the schedule commits after the runs have started. If the scheduler dies in between, the
// alarm stays. The next scheduler uses the same request ids and gets the runs that exist. Two schedulers never hold the same alarm.

import { EngineError } from "@pawl/core/fault/engine-error";
import type { ScheduleLink } from "@pawl/core/log/event";
import type { RunId } from "@pawl/core/name/ids";
import { CATCH_UP_MAX, LATE_MS, occurrencesToStart } from "@pawl/core/policy/schedule";
import { probe } from "@pawl/platform/lifecycle/probe";
import type { Occurrences } from "@pawl/platform/queue/occurrences";
import type {
  DueSchedule,
  Firing,
  ScheduleMove,
  ScheduleRecord,
  Schedules,
} from "@pawl/platform/store/schedules/schedules";
import { ATTRIBUTES, METRICS, SPANS } from "@pawl/platform/telemetry/catalogue";
import type { Logger } from "@pawl/platform/telemetry/log";
import { NO_TRACE, withSpan } from "@pawl/platform/telemetry/trace";
import type { StartRequest } from "@pawl/platform/wire/requests";
import { scheduledStart } from "../commands/save-schedule.ts";

/** Alarms taken at once. Their runs start in the same tick or in two. */
const ALARMS_MAX = 50;
/** The most occurrences of one alarm: those to catch up, and one for each second of the time in which an occurrence is not late. */
const TIMES_MAX = CATCH_UP_MAX + LATE_MS / 1_000;

export interface FireParts {
  readonly schedules: Schedules;
  readonly occurrences: Occurrences;
  readonly log: Logger;
  readonly startRun: (
    tenantId: string,
    request: StartRequest,
    schedule: ScheduleLink,
  ) => Promise<{ readonly runId: RunId; readonly duplicate: boolean }>;
}

/** Fires the alarms that are due. @throws errors that may pass (STORE_UNAVAILABLE); then nothing has changed */
export function fireSchedules(parts: FireParts): Promise<Firing> {
  return parts.schedules.fire(ALARMS_MAX, (schedule, now) => fireOne(parts, schedule, now));
}

async function fireOne(
  parts: FireParts,
  schedule: DueSchedule,
  storeNow: number,
): Promise<ScheduleMove> {
  const { spec, nextAt: first } = schedule;
  // The alarm is due by the queue's clock, so its occurrence is due, also if this reading is earlier.
  const now = Math.max(storeNow, first);
  const times = await timesOf(parts, schedule, now);
  const asked = occurrencesToStart({ times, now, missed: spec.missed });
  const starts = startable(schedule, asked);
  const started = await startAll(parts, schedule, starts);
  probe("schedule.after-start");
  const skippedCount = times.length - started.count;
  if (skippedCount > 0) METRICS.occurrencesSkipped.add(skippedCount);
  const after = await nextAfter(parts, spec, now);
  return {
    nextAt: after.nextAt,
    lastAt: times.at(-1) ?? first,
    runId: started.lastRunId,
    lastError: after.fault || started.fault || skipReason(asked, starts),
    startedCount: started.count,
    skippedCount,
  };
}

/** The occurrences that may start. Without overlap, a live run blocks all of them, and only the first of several may start. */
function startable(schedule: DueSchedule, asked: readonly number[]): readonly number[] {
  if (schedule.spec.overlap === "allow") return asked;
  return schedule.isLastRunLive ? [] : asked.slice(0, 1);
}

/** Why the newest occurrence started no run. Empty if it started one. */
function skipReason(asked: readonly number[], starts: readonly number[]): string {
  const newest = asked.at(-1);
  if (newest === undefined) return "missed: no scheduler ran in time to start it";
  return newest === starts.at(-1) ? "" : "overlap: the run of the occurrence before had not ended";
}

/** The due occurrences. If the rule cannot be computed any more, the list holds only the occurrence of the alarm. */
async function timesOf(
  { occurrences }: FireParts,
  { spec, nextAt: first }: DueSchedule,
  now: number,
): Promise<number[]> {
  try {
    return await occurrences.due(spec, { first, now, max: TIMES_MAX });
  } catch (error) {
    if (error instanceof EngineError) throw error;
    return [first];
  }
}

async function nextAfter(
  { occurrences }: FireParts,
  spec: ScheduleRecord["spec"],
  now: number,
): Promise<{ readonly nextAt: number | null; readonly fault: string }> {
  try {
    return { nextAt: await occurrences.next(spec, now), fault: "" };
  } catch (error) {
    if (error instanceof EngineError) throw error;
    // The rule was valid when the user saved it, and cannot be computed now. The schedule stops, with the reason.
    const message = error instanceof Error ? error.message : String(error);
    return { nextAt: null, fault: `the rule cannot be computed any more: ${message}` };
  }
}

interface StartedAll {
  readonly count: number;
  readonly lastRunId: RunId | null;
  readonly fault: string;
}

async function startAll(
  { startRun, log }: FireParts,
  schedule: DueSchedule,
  times: readonly number[],
): Promise<StartedAll> {
  const { tenantId, scheduleId, spec } = schedule;
  let count = 0;
  let lastRunId: RunId | null = null;
  let fault = "";
  // Start missed occurrences one after the other, in order.
  for (const at of times) {
    try {
      const request = scheduledStart(spec, occurrenceId(scheduleId, at));
      const attributes = { [ATTRIBUTES.scheduleId]: scheduleId };
      const { runId } = await withSpan(SPANS.occurrence, { attributes, parent: NO_TRACE }, () =>
        startRun(tenantId, request, { scheduleId, at }),
      );
      lastRunId = runId;
      count += 1;
      fault = "";
      METRICS.occurrencesStarted.add(1);
    } catch (error) {
      // The scheduler tries all taken alarms again after an error that may pass. Any other error must not delay the other schedules.
      if (error instanceof EngineError && error.retryable) throw error;
      fault = error instanceof EngineError ? `${error.reason}: ${error.message}` : "INTERNAL";
      log.warn({ schedule_id: scheduleId, at, err: error }, "an occurrence started nothing");
    }
  }
  return { count, lastRunId, fault };
}

/** The request id of an occurrence. It contains a space, and request ids of callers do not, so no caller can use it. */
const occurrenceId = (scheduleId: string, at: number): string =>
  `schedule ${scheduleId} ${new Date(at).toISOString()}`;
