// A schedule as people read it. Pure.

import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { type Schedule, ScheduleState } from "@pawl/proto/pawl/v1/schedule_pb";
import type { Span } from "./spans.ts";

export const SCHEDULE_HEADS = ["SCHEDULE", "STATE", "WHEN", "ZONE", "WORKFLOW", "NEXT", "LAST"];

const isoOf = (time: Timestamp | undefined): string =>
  time === undefined ? "" : timestampDate(time).toISOString().replace(".000Z", "Z");

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
  return [
    { text: schedule.scheduleId },
    { text: stateOf(schedule) },
    { text: lineOf(spec?.expression ?? "") },
    { text: spec?.timeZone ?? "" },
    { text: spec?.workflowId ?? "" },
    { text: isoOf(nextTimes[0]) },
    { text: lastError === "" ? isoOf(lastOccurrenceTime) : lastError },
  ];
}

/** A schedule whole. */
export function scheduleLines(schedule: Schedule): string[] {
  const { spec, pausedBy, pauseReason, lastError, lastRunId } = schedule;
  const by = pausedBy === "" ? "" : ` by ${pausedBy}`;
  const why = pauseReason === "" ? "" : `: ${pauseReason}`;
  const held = schedule.state === ScheduleState.PAUSED ? `${by}${why}` : "";
  const last = isoOf(schedule.lastOccurrenceTime);
  const ran = lastError === "" ? `run ${lastRunId}` : lastError;
  return [
    `${schedule.scheduleId} ${stateOf(schedule)}${held}`,
    `  ${lineOf(spec?.expression ?? "")} in ${spec?.timeZone ?? ""}, runs ${spec?.workflowId ?? ""}`,
    ...(last === "" ? [] : [`  last ${last}, ${ran}`]),
    `  started ${schedule.startedCount}, skipped ${schedule.skippedCount}`,
    ...schedule.nextTimes.map((time) => `  next ${isoOf(time)}`),
  ];
}
