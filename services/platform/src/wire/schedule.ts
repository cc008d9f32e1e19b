// A schedule as clients see it.

import { create } from "@bufbuild/protobuf";
import type { MissedPolicy, OverlapPolicy } from "@pawl/core/policy/schedule";
import {
  MissedPolicy as WireMissed,
  OverlapPolicy as WireOverlap,
  type Schedule as WireSchedule,
  ScheduleSchema,
  ScheduleSpecSchema,
  ScheduleState,
} from "@pawl/proto/pawl/v1/schedule_pb";
import type { ScheduleRecord } from "../store/schedules/schedules.ts";
import { toJsonBytes, toTimestamp } from "./scalar.ts";

const MISSED: Record<MissedPolicy, WireMissed> = {
  skip: WireMissed.SKIP,
  run_once: WireMissed.RUN_ONCE,
  run_all: WireMissed.RUN_ALL,
};
const OVERLAP: Record<OverlapPolicy, WireOverlap> = {
  allow: WireOverlap.ALLOW,
  skip: WireOverlap.SKIP,
};

/** Undefined for an unknown number; UNSPECIFIED is `skip`. */
export function fromWireMissed(missed: WireMissed): MissedPolicy | undefined {
  if (missed === WireMissed.UNSPECIFIED) return "skip";
  return (Object.keys(MISSED) as MissedPolicy[]).find((policy) => MISSED[policy] === missed);
}

/** Undefined for an unknown number; UNSPECIFIED is `allow`. */
export function fromWireOverlap(overlap: WireOverlap): OverlapPolicy | undefined {
  if (overlap === WireOverlap.UNSPECIFIED) return "allow";
  return (Object.keys(OVERLAP) as OverlapPolicy[]).find((policy) => OVERLAP[policy] === overlap);
}

/** A schedule; `nextTimes` if more than the next time is known. */
export function toWireSchedule(
  schedule: ScheduleRecord,
  nextTimes: readonly number[] = schedule.nextAt === null ? [] : [schedule.nextAt],
): WireSchedule {
  const { spec, pause, lastAt } = schedule;
  return create(ScheduleSchema, {
    scheduleId: schedule.scheduleId,
    spec: create(ScheduleSpecSchema, {
      workflowId: spec.workflowId,
      workflowVersion: spec.workflowVersion,
      expression: spec.expression,
      timeZone: spec.timeZone,
      inputJson: toJsonBytes(spec.input),
      priority: spec.priority,
      missed: MISSED[spec.missed],
      overlap: OVERLAP[spec.overlap],
    }),
    state: stateOf(schedule),
    version: schedule.version,
    pausedBy: pause?.by ?? "",
    pauseReason: pause?.reason ?? "",
    ...(pause === null ? {} : { pauseTime: toTimestamp(pause.at) }),
    createTime: toTimestamp(schedule.createdAt),
    updateTime: toTimestamp(schedule.updatedAt),
    ...(lastAt === null ? {} : { lastOccurrenceTime: toTimestamp(lastAt) }),
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
