// What is asked of a schedule, checked whole before anything is written.

import { LIMITS } from "@pawl/core/data/limits";
import { EngineError, invalidField } from "@pawl/core/fault/engine-error";
import type { Occurrences } from "@pawl/platform/queue/occurrences";
import type { ScheduleSpec } from "@pawl/platform/store/schedules/schedules";
import type { Workflows } from "@pawl/platform/store/workflows/workflows";
import { fromWireMissed, fromWireOverlap } from "@pawl/platform/wire/schedule";
import type { ScheduleSpec as WireSpec } from "@pawl/proto/pawl/v1/schedule_pb";
import { inputOf, priorityOf, workflowIdOf } from "./request.ts";

export const UTC = "UTC";

/** @throws INPUT_INVALID, LIMIT_EXCEEDED, OVERLOADED */
export async function specOf(
  wire: WireSpec | undefined,
  now: number,
  occurrences: Occurrences,
): Promise<ScheduleSpec> {
  if (wire === undefined) throw invalidField("spec", "REQUIRED", "is missing");
  const expression = wire.expression.trim();
  if (expression === "") throw invalidField("spec.expression", "REQUIRED", "is empty");
  if (expression.length > LIMITS.scheduleExpressionLength)
    throw invalidField(
      "spec.expression",
      "TOO_LONG",
      `is longer than ${LIMITS.scheduleExpressionLength} characters`,
    );
  const timeZone = wire.timeZone === "" ? UTC : wire.timeZone;
  const missed = fromWireMissed(wire.missed);
  if (missed === undefined) throw invalidField("spec.missed", "UNKNOWN_ENUM", "is not a policy");
  const overlap = fromWireOverlap(wire.overlap);
  if (overlap === undefined) throw invalidField("spec.overlap", "UNKNOWN_ENUM", "is not a policy");
  const spec = {
    workflowId: workflowIdOf(wire.workflowId),
    workflowVersion: wire.workflowVersion,
    expression,
    timeZone,
    input: inputOf(wire.inputJson),
    priority: priorityOf(wire.priority),
    missed,
    overlap,
  };
  // Last: it is the only check that costs something.
  const fault = await occurrences.fault({ expression, timeZone }, now);
  if (fault !== undefined)
    throw invalidField(`spec.${fault.field}`, fault.reason, fault.description);
  return spec;
}

/** @throws WORKFLOW_NOT_FOUND naming the field */
export async function checkWorkflow(
  workflows: Workflows,
  tenantId: string,
  { workflowId, workflowVersion: version }: ScheduleSpec,
): Promise<void> {
  if ((await workflows.find(tenantId, workflowId, version)) !== undefined) return;
  const isNamed = version === 0;
  const description = isNamed
    ? `there is no workflow ${workflowId}`
    : `workflow ${workflowId} has no version ${version}`;
  const field = isNamed ? "spec.workflow_id" : "spec.workflow_version";
  throw new EngineError("WORKFLOW_NOT_FOUND", `${field}: ${description}.`, {
    metadata: { workflow_id: workflowId, version: String(version) },
    violations: [{ field, reason: "UNKNOWN_WORKFLOW", description }],
  });
}
