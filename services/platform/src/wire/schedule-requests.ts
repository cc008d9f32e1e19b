// Parses requests about schedules. The gateway and the scheduler call these functions, so both refuse the same requests.

import { LIMITS } from "@pawl/core/data/limits";
import { invalidField } from "@pawl/core/fault/engine-error";
import type { ScheduleSpec as WireSpec } from "@pawl/proto/pawl/v1/schedule_pb";
import type { PauseScheduleRequest } from "@pawl/proto/pawl/v1/schedule_service_pb";
import type { ScheduleSpec } from "../store/schedules/schedules.ts";
import { lineOf, nameOf, priorityOf, requestIdOf, sameInputOf } from "./fields.ts";
import { fromWireMissed, fromWireOverlap } from "./schedule.ts";

/** A command that names a schedule and nothing else. */
export const parseScheduleCommand = (request: {
  readonly scheduleId: string;
  readonly requestId: string;
}) => ({
  scheduleId: nameOf("schedule_id", request.scheduleId),
  requestId: requestIdOf(request.requestId),
});

export const parsePauseSchedule = (request: PauseScheduleRequest) => ({
  ...parseScheduleCommand(request),
  by: lineOf("paused_by", request.pausedBy),
  reason: lineOf("reason", request.reason),
});

export const parseSaveSchedule = (request: {
  readonly scheduleId: string;
  readonly requestId: string;
  readonly spec?: WireSpec | undefined;
}) => ({ ...parseScheduleCommand(request), spec: specOf(request.spec) });

/** Checks only the length of the expression. The thread that computes occurrences checks whether it is a rule. */
function specOf(wire: WireSpec | undefined): ScheduleSpec {
  if (wire === undefined) throw invalidField("spec", "REQUIRED", "is missing");
  const missed = fromWireMissed(wire.missed);
  if (missed === undefined) throw invalidField("spec.missed", "UNKNOWN_ENUM", "is not a policy");
  const overlap = fromWireOverlap(wire.overlap);
  if (overlap === undefined) throw invalidField("spec.overlap", "UNKNOWN_ENUM", "is not a policy");
  return {
    workflowId: nameOf("spec.workflow_id", wire.workflowId),
    workflowVersion: wire.workflowVersion,
    expression: expressionOf("spec.expression", wire.expression),
    timeZone: wire.timeZone === "" ? "UTC" : wire.timeZone,
    input: sameInputOf(wire),
    priority: priorityOf("spec.priority", wire.priority),
    missed,
    overlap,
  };
}

/** The rule of a schedule. @throws INPUT_INVALID */
export function expressionOf(field: string, text: string): string {
  const expression = text.trim();
  if (expression === "") throw invalidField(field, "REQUIRED", "is empty");
  const max = LIMITS.scheduleExpressionLength;
  if (expression.length <= max) return expression;
  throw invalidField(field, "TOO_LONG", `is longer than ${max} characters`);
}
