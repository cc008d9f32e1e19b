// ScheduleService at the edge: reads and previews in place, changes forwarded.

import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { LIMITS } from "@pawl/core/data/limits";
import { EngineError, invalidField } from "@pawl/core/fault/engine-error";
import type { Recurrence } from "@pawl/platform/queue/boss-occurrences";
import { type Occurrences, TooCostly } from "@pawl/platform/queue/occurrences";
import { OCCURRENCES_SHOWN, upcoming } from "@pawl/platform/queue/upcoming";
import type { SchedulePage } from "@pawl/platform/store/schedules/schedules";
import type { ScheduleRecord } from "@pawl/platform/store/schedules/schedules";
import { fromTimestamp, toTimestamp } from "@pawl/platform/wire/scalar";
import { toWireSchedule } from "@pawl/platform/wire/schedule";
import type { ScheduleSpec } from "@pawl/proto/pawl/v1/schedule_pb";
import {
  GetScheduleResponseSchema,
  ListSchedulesResponseSchema,
  type PreviewScheduleRequest,
  PreviewScheduleResponseSchema,
  type ScheduleService,
} from "@pawl/proto/pawl/v1/schedule_service_pb";
import { forwardOptions, type Scheduler } from "../request/forward.ts";
import {
  checkLine,
  checkName,
  checkPageSize,
  checkRange,
  checkRequestId,
  checkSameInput,
} from "../request/ingress.ts";

export interface ScheduleServiceDeps {
  readonly scheduler: Scheduler;
  readonly occurrences: Occurrences;
  readonly now: () => number;
  readonly getSchedule: (scheduleId: string) => Promise<ScheduleRecord | undefined>;
  readonly listSchedules: (
    workflowId: string,
    page: { size: number; token: string },
  ) => Promise<SchedulePage>;
}

const PAGE = { default: LIMITS.pageSize, max: LIMITS.pageSizeMax } as const;

export const createScheduleService = (
  deps: ScheduleServiceDeps,
): ServiceImpl<typeof ScheduleService> => {
  const find = async (text: string): Promise<ScheduleRecord> => {
    const scheduleId = checkName("schedule_id", text);
    const schedule = await deps.getSchedule(scheduleId);
    if (schedule !== undefined) return schedule;
    throw new EngineError("SCHEDULE_NOT_FOUND", `There is no schedule ${scheduleId}.`, {
      metadata: { schedule_id: scheduleId },
    });
  };
  const { schedules } = deps.scheduler;
  return {
    createSchedule: (request, context) => {
      checkSpec(request.spec);
      return schedules.createSchedule(named(request), forwardOptions(context));
    },
    updateSchedule: (request, context) => {
      checkSpec(request.spec);
      return schedules.updateSchedule(named(request), forwardOptions(context));
    },
    deleteSchedule: (request, context) =>
      schedules.deleteSchedule(named(request), forwardOptions(context)),
    pauseSchedule: (request, context) => {
      checkLine("paused_by", request.pausedBy, LIMITS.labelLength);
      checkLine("reason", request.reason, LIMITS.labelLength);
      return schedules.pauseSchedule(named(request), forwardOptions(context));
    },
    resumeSchedule: (request, context) =>
      schedules.resumeSchedule(named(request), forwardOptions(context)),
    triggerSchedule: (request, context) =>
      schedules.triggerSchedule(named(request), forwardOptions(context)),
    getSchedule: async ({ scheduleId }) => {
      const schedule = await find(scheduleId);
      const times = await upcoming(deps.occurrences, schedule, OCCURRENCES_SHOWN);
      return create(GetScheduleResponseSchema, { schedule: toWireSchedule(schedule, times) });
    },
    listSchedules: async ({ pageSize, pageToken, workflowId }) => {
      if (workflowId !== "") checkName("workflow_id", workflowId);
      const size = checkPageSize(pageSize, PAGE);
      const page = await deps.listSchedules(workflowId, { size, token: pageToken });
      return create(ListSchedulesResponseSchema, {
        schedules: page.schedules.map((schedule) => toWireSchedule(schedule)),
        nextPageToken: page.nextPageToken,
      });
    },
    previewSchedule: async (request) => {
      const count = checkRange("count", request.count, 0, LIMITS.previewTimesMax);
      const from = request.fromTime === undefined ? deps.now() : fromTimestamp(request.fromTime);
      const recurrence =
        request.scheduleId === "" ? recurrenceOf(request) : (await find(request.scheduleId)).spec;
      const times = await preview(deps.occurrences, recurrence, {
        from,
        count: count || LIMITS.previewTimes,
      });
      return create(PreviewScheduleResponseSchema, { times: times.map(toTimestamp) });
    },
  };
};

/** A request with its ids checked. */
function named<T extends { scheduleId: string; requestId: string }>(request: T): T {
  checkName("schedule_id", request.scheduleId);
  request.requestId = checkRequestId(request.requestId);
  return request;
}

/** What the scheduler checks too, where a fault can be told without asking it. */
function checkSpec(spec: ScheduleSpec | undefined): void {
  if (spec === undefined) throw invalidField("spec", "REQUIRED", "is missing");
  checkName("spec.workflow_id", spec.workflowId);
  checkRange("spec.priority", spec.priority, -LIMITS.priorityMax, LIMITS.priorityMax);
  spec.inputJson = checkSameInput(spec.inputJson, spec.input);
  delete spec.input;
}

function recurrenceOf(request: PreviewScheduleRequest): Recurrence {
  const expression = request.expression.trim();
  if (expression === "") throw invalidField("expression", "REQUIRED", "is empty");
  if (expression.length > LIMITS.scheduleExpressionLength)
    throw invalidField(
      "expression",
      "TOO_LONG",
      `is longer than ${LIMITS.scheduleExpressionLength} characters`,
    );
  return { expression, timeZone: request.timeZone || "UTC" };
}

/** @throws INPUT_INVALID for a rule that cannot be read or takes too long */
async function preview(
  occurrences: Occurrences,
  recurrence: Recurrence,
  { from, count }: { readonly from: number; readonly count: number },
): Promise<number[]> {
  const fault = await occurrences.fault(recurrence, from);
  // A rule that has ended has no times, which is an answer.
  if (fault?.reason === "NO_OCCURRENCE") return [];
  if (fault !== undefined) throw invalidField(fault.field, fault.reason, fault.description);
  try {
    return await occurrences.after(recurrence, from, count);
  } catch (error) {
    if (error instanceof TooCostly)
      throw invalidField("expression", "TOO_COSTLY", `${error.message}, or ask for fewer times`);
    throw error;
  }
}
