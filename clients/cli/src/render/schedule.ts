// A schedule as people read it. Pure.

import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { type Schedule, ScheduleState } from "@pawl/proto/pawl/v1/schedule_pb";
import type { Span } from "./spans.ts";
import { clockTime, exactTime, zonedTime } from "./zoned-time.ts";

export const SCHEDULE_HEADS = ["SCHEDULE", "STATE", "WHEN", "ZONE", "WORKFLOW", "NEXT", "LAST"];

/** In a table, whose column beside it names the zone. */
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

/** A rule of several lines in one. */
const lineOf = (expression: string): string => expression.replaceAll(/\s*\n\s*/g, " ");

/** One row of a list. */
export function scheduleRow(schedule: Schedule): Span[] {
  const { spec, nextTimes, lastError, lastOccurrenceTime } = schedule;
  const zone = spec?.timeZone ?? "";
  return [
    { text: schedule.scheduleId },
    { text: stateOf(schedule) },
    { text: lineOf(spec?.expression ?? "") },
    { text: zone },
    { text: spec?.workflowId ?? "" },
    { text: clockOf(nextTimes[0], zone) },
    { text: lastError === "" ? clockOf(lastOccurrenceTime, zone) : lastError },
  ];
}

/** A schedule whole. */
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
