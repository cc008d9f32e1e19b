// Fires schedules: takes their alarms, starts the runs their policies ask for, and sets the alarms of what comes next.
//
// Exactly one run an occurrence, whatever happens: a run is started under a request id that names schedule and occurrence, which is
// unique in the store. The alarm goes away, and the schedule moves on, in a transaction that commits after the runs have started.
// A scheduler that dies in between leaves the alarm where it was; the next one to take it says the same request ids again, and is
// answered with the runs there are. Two schedulers never hold the same alarm.

import { EngineError } from "@pawl/core/fault/engine-error";
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
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import type { Logger } from "@pawl/platform/telemetry/log";
import type { StartRunRequest } from "@pawl/proto/pawl/v1/run_service_pb";
import { startRequestOf } from "../commands/scheduled-start.ts";
import type { Occurrence } from "../commands/start-run.ts";

/** Alarms taken at once; their runs start in the same tick or two. */
const ALARMS_MAX = 50;
/** What was missed and is made up for, and what is due within a minute. */
const TIMES_MAX = CATCH_UP_MAX + LATE_MS / 1_000;

export interface FireParts {
  readonly schedules: Schedules;
  readonly occurrences: Occurrences;
  readonly log: Logger;
  readonly startRun: (
    tenantId: string,
    request: StartRunRequest,
    occurrence: Occurrence,
  ) => Promise<{ readonly runId: RunId; readonly duplicate: boolean }>;
}

/** Fires what is due. @throws whatever may be over soon (STORE_UNAVAILABLE): nothing has moved then */
export function fireSchedules(parts: FireParts): Promise<Firing> {
  return parts.schedules.fire(ALARMS_MAX, (schedule, now) => fireOne(parts, schedule, now));
}

async function fireOne(
  parts: FireParts,
  schedule: DueSchedule,
  storeNow: number,
): Promise<ScheduleMove> {
  const { spec, nextAt: first } = schedule;
  // The alarm has gone off by the queue's clock, so its occurrence is due whatever this reading says.
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

/** Those that the run before does not stand in the way of; of several at once only the first, which then stands in the others' way. */
function startable(schedule: DueSchedule, asked: readonly number[]): readonly number[] {
  if (schedule.spec.overlap === "allow") return asked;
  return schedule.isLastRunLive ? [] : asked.slice(0, 1);
}

/** Why the newest occurrence started nothing, if so. */
function skipReason(asked: readonly number[], starts: readonly number[]): string {
  const newest = asked.at(-1);
  if (newest === undefined) return "missed: nothing was there to start it in time";
  return newest === starts.at(-1) ? "" : "overlap: the run of the occurrence before had not ended";
}

/** What is due. Of a rule that cannot be computed any more only the occurrence whose alarm went off is known. */
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
    // Kept when it could be computed, and cannot be now: it stops, and says why.
    const said = error instanceof Error ? error.message : String(error);
    return { nextAt: null, fault: `the rule cannot be computed any more: ${said}` };
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
  const { tenantId, scheduleId } = schedule;
  const request = startRequestOf(schedule);
  let count = 0;
  let lastRunId: RunId | null = null;
  let fault = "";
  // One after the other: what was missed starts in the order it was missed in.
  for (const at of times) {
    try {
      const { runId } = await startRun(tenantId, request, occurrenceOf(schedule, at));
      lastRunId = runId;
      count += 1;
      fault = "";
      METRICS.occurrencesStarted.add(1);
    } catch (error) {
      // What may be over soon is tried again, with all that was taken; anything else must not hold up the others.
      if (error instanceof EngineError && error.retryable) throw error;
      fault = error instanceof EngineError ? `${error.reason}: ${error.message}` : "INTERNAL";
      log.warn({ schedule_id: scheduleId, at, err: error }, "an occurrence started nothing");
    }
  }
  return { count, lastRunId, fault };
}

/** Names an occurrence. Callers' own request ids have no spaces, so none of theirs is ever taken for one. */
export const occurrenceOf = ({ scheduleId }: ScheduleRecord, at: number): Occurrence => ({
  schedule: { scheduleId, at },
  requestId: `schedule ${scheduleId} ${new Date(at).toISOString()}`,
});
