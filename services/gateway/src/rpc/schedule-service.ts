// ScheduleService at the gateway: reads and previews here, changes checked and forwarded.

import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { LIMITS } from "@pawl/core/data/limits";
import { EngineError, invalidField } from "@pawl/core/fault/engine-error";
import { DEFAULT_TENANT } from "@pawl/core/name/tenant";
import type { Recurrence } from "@pawl/platform/queue/boss-occurrences";
import {
  OCCURRENCES_SHOWN,
  type Occurrences,
  TooCostly,
  upcoming,
} from "@pawl/platform/queue/occurrences";
import { getSchedule, listSchedules } from "@pawl/platform/store/schedules/reads";
import type { ScheduleRecord } from "@pawl/platform/store/schedules/schedules";
import { nameOf, optionalName, rangeOf } from "@pawl/platform/wire/fields";
import {
  expressionOf,
  parsePauseSchedule,
  parseSaveSchedule,
  parseScheduleCommand,
} from "@pawl/platform/wire/schedule-requests";
import { fromTimestamp, toTimestamp } from "@pawl/platform/wire/scalar";
import { toWireSchedule } from "@pawl/platform/wire/schedule";
import {
  type CreateScheduleRequest,
  GetScheduleResponseSchema,
  ListSchedulesResponseSchema,
  type PreviewScheduleRequest,
  PreviewScheduleResponseSchema,
  type ScheduleService,
  type UpdateScheduleRequest,
} from "@pawl/proto/pawl/v1/schedule_service_pb";
import { forwarded, sendAsJson } from "../request/forward.ts";
import type { ServiceParts } from "./service-parts.ts";

export const createScheduleService = ({
  pool,
  pages,
  occurrences,
  scheduler: { schedules },
}: ServiceParts): ServiceImpl<typeof ScheduleService> => {
  const find = async (text: string): Promise<ScheduleRecord> => {
    const scheduleId = nameOf("schedule_id", text);
    const schedule = await getSchedule(pool, DEFAULT_TENANT, scheduleId);
    if (schedule !== undefined) return schedule;
    throw new EngineError("SCHEDULE_NOT_FOUND", `There is no schedule ${scheduleId}.`, {
      metadata: { schedule_id: scheduleId },
    });
  };
  return {
    createSchedule: forwarded(schedules.createSchedule, sendSpec),
    updateSchedule: forwarded(schedules.updateSchedule, sendSpec),
    deleteSchedule: forwarded(schedules.deleteSchedule, parseScheduleCommand),
    pauseSchedule: forwarded(schedules.pauseSchedule, parsePauseSchedule),
    resumeSchedule: forwarded(schedules.resumeSchedule, parseScheduleCommand),
    triggerSchedule: forwarded(schedules.triggerSchedule, parseScheduleCommand),
    getSchedule: async ({ scheduleId }) => {
      const schedule = await find(scheduleId);
      const times = await upcoming(occurrences, schedule, OCCURRENCES_SHOWN);
      return create(GetScheduleResponseSchema, { schedule: toWireSchedule(schedule, times) });
    },
    listSchedules: async (request) => {
      const { workflowId } = request;
      optionalName("workflow_id", workflowId);
      const page = await pages.page(request, (asked) =>
        listSchedules(pool, DEFAULT_TENANT, workflowId, asked),
      );
      const wire = page.rows.map((schedule) => toWireSchedule(schedule));
      const { nextPageToken } = page;
      return create(ListSchedulesResponseSchema, { schedules: wire, nextPageToken });
    },
    previewSchedule: async (request) => {
      const asked = rangeOf("count", request.count, 0, LIMITS.previewTimesMax);
      const from = request.fromTime === undefined ? Date.now() : fromTimestamp(request.fromTime);
      const recurrence =
        request.scheduleId === "" ? recurrenceOf(request) : (await find(request.scheduleId)).spec;
      const count = asked || LIMITS.previewTimes;
      const times = await preview(occurrences, recurrence, { from, count });
      return create(PreviewScheduleResponseSchema, { times: times.map(toTimestamp) });
    },
  };
};

/** Parses a schedule. The gateway sends an input that came as a Value as JSON. @throws INPUT_INVALID, LIMIT_EXCEEDED */
function sendSpec(request: CreateScheduleRequest | UpdateScheduleRequest): void {
  const { spec } = parseSaveSchedule(request);
  if (request.spec !== undefined) sendAsJson(request.spec, spec.input);
}

function recurrenceOf(request: PreviewScheduleRequest): Recurrence {
  const expression = expressionOf("expression", request.expression);
  return { expression, timeZone: request.timeZone || "UTC" };
}

/** The next times of a rule. @throws INPUT_INVALID for a rule that cannot be read or takes too long */
async function preview(
  occurrences: Occurrences,
  recurrence: Recurrence,
  { from, count }: { readonly from: number; readonly count: number },
): Promise<number[]> {
  const fault = await occurrences.fault(recurrence, from);
  // A rule that has ended is valid. It has no times.
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
