// A schedule as clients see it.

import { create } from "@bufbuild/protobuf";
import type { MissedPolicy, OverlapPolicy } from "@pawl/core/policy/schedule";
import {
  MissedPolicy as WireMissed,
  OverlapPolicy as WireOverlap,
  type Schedule as WireSchedule,
  ScheduleSchema,
  ScheduleState,
} from "@pawl/proto/pawl/v1/schedule_pb";
import type { ScheduleRecord } from "../store/schedules/schedules.ts";
import { namesOf } from "./enum.ts";
import { toJsonBytes, toTimestamp, toTimestampOrNone } from "./scalar.ts";

const missedPolicies = namesOf(WireMissed);
const overlapPolicies = namesOf(WireOverlap);

/** Undefined for an unknown number; UNSPECIFIED is `skip`. */
export const fromWireMissed = (missed: WireMissed): MissedPolicy | undefined =>
  missed === WireMissed.UNSPECIFIED ? "skip" : missedPolicies.nameOf(missed);

/** Undefined for an unknown number; UNSPECIFIED is `allow`. */
export const fromWireOverlap = (overlap: WireOverlap): OverlapPolicy | undefined =>
  overlap === WireOverlap.UNSPECIFIED ? "allow" : overlapPolicies.nameOf(overlap);

/** A schedule. `nextTimes` is given if more than the next time is known. */
export function toWireSchedule(
  schedule: ScheduleRecord,
  nextTimes: readonly number[] = schedule.nextAt === null ? [] : [schedule.nextAt],
): WireSchedule {
  const { spec, pause, lastAt } = schedule;
  return create(ScheduleSchema, {
    scheduleId: schedule.scheduleId,
    spec: {
      workflowId: spec.workflowId,
      workflowVersion: spec.workflowVersion,
      expression: spec.expression,
      timeZone: spec.timeZone,
      inputJson: toJsonBytes(spec.input),
      priority: spec.priority,
      missed: missedPolicies.values[spec.missed],
      overlap: overlapPolicies.values[spec.overlap],
    },
    state: stateOf(schedule),
    version: schedule.version,
    pausedBy: pause?.by ?? "",
    pauseReason: pause?.reason ?? "",
    pauseTime: toTimestampOrNone(pause?.at),
    createTime: toTimestamp(schedule.createdAt),
    updateTime: toTimestamp(schedule.updatedAt),
    lastOccurrenceTime: toTimestampOrNone(lastAt),
    lastRunId: schedule.lastRunId ?? "",
    lastError: schedule.lastError,
    startedCount: BigInt(schedule.startedCount),
    skippedCount: BigInt(schedule.skippedCount),
    nextTimes: nextTimes.map(toTimestamp),
  });
}

function stateOf({ pause, nextAt }: ScheduleRecord): ScheduleState {
  if (pause !== null) return ScheduleState.PAUSED;
  return nextAt === null ? ScheduleState.FINISHED : ScheduleState.ACTIVE;
}
