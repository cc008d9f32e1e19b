// A schedule for people, with times on the clock of its time zone. The functions are pure.

import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { type Schedule, ScheduleState } from "@pawl/proto/pawl/v1/schedule_pb";

export const SCHEDULE_HEADS = ["SCHEDULE", "STATE", "WHEN", "ZONE", "WORKFLOW", "NEXT", "LAST"];

/** The time for a table, in which another column names the zone. */
const clockOf = (time: Timestamp | undefined, zone: string): string => {
  if (time === undefined) return "";
  const date = timestampDate(time);
  return clockTime(date, zone) ?? exactTime(date);
};

const zonedOf = (time: Timestamp | undefined, zone: string): string =>
  time === undefined ? "" : zonedTime(timestampDate(time), zone);

const STATES: Readonly<Record<number, string>> = {
  [ScheduleState.ACTIVE]: "active",
  [ScheduleState.PAUSED]: "paused",
  [ScheduleState.FINISHED]: "finished",
};
const stateOf = ({ state }: Schedule): string => STATES[state] ?? "unknown";

/** A rule of several lines in one line. */
const lineOf = (expression: string): string => expression.replaceAll(/\s*\n\s*/g, " ");

export function scheduleRow(schedule: Schedule): string[] {
  const { spec, nextTimes, lastError, lastOccurrenceTime } = schedule;
  const zone = spec?.timeZone ?? "";
  return [
    schedule.scheduleId,
    stateOf(schedule),
    lineOf(spec?.expression ?? ""),
    zone,
    spec?.workflowId ?? "",
    clockOf(nextTimes[0], zone),
    lastError === "" ? clockOf(lastOccurrenceTime, zone) : lastError,
  ];
}

export function scheduleLines(schedule: Schedule): string[] {
  const { spec, pausedBy, pauseReason, lastError, lastRunId } = schedule;
  const by = pausedBy === "" ? "" : ` by ${pausedBy}`;
  const why = pauseReason === "" ? "" : `: ${pauseReason}`;
  const held = schedule.state === ScheduleState.PAUSED ? `${by}${why}` : "";
  const zone = spec?.timeZone ?? "";
  const last = zonedOf(schedule.lastOccurrenceTime, zone);
  const ran = lastError === "" ? `run ${lastRunId}` : lastError;
  return [
    `${schedule.scheduleId} ${stateOf(schedule)}${held}`,
    `  ${lineOf(spec?.expression ?? "")} in ${zone}, runs ${spec?.workflowId ?? ""}`,
    ...(last === "" ? [] : [`  last ${last}, ${ran}`]),
    `  started ${schedule.startedCount}, skipped ${schedule.skippedCount}`,
    ...schedule.nextTimes.map((time) => `  next ${zonedOf(time, zone)}`),
  ];
}

/** 2026-01-02 03:00 in `timeZone`, with seconds unless they are 0. Undefined for a zone that this machine does not know. */
function clockTime(date: Date, timeZone: string): string | undefined {
  try {
    // Swedish dates are ISO dates.
    const format = { timeZone, dateStyle: "short", timeStyle: "medium" } as const;
    return new Intl.DateTimeFormat("sv-SE", format).format(date).replace(/:00$/, "");
  } catch {
    return undefined;
  }
}

/** The exact time in UTC. */
const exactTime = (date: Date): string => date.toISOString().replace(".000Z", "Z");

/** The time on the clock of the zone, and in UTC. */
export function zonedTime(date: Date, timeZone: string): string {
  const clock = timeZone === "" || timeZone === "UTC" ? undefined : clockTime(date, timeZone);
  return clock === undefined ? exactTime(date) : `${clock} ${timeZone} (${exactTime(date)})`;
}
