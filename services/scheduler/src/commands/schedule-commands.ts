// The commands of schedules as the scheduler serves them to gateways. Reads and previews are the gateway's.

import { OCCURRENCES_SHOWN, upcoming } from "@pawl/platform/queue/upcoming";
import { serve, type ServedService } from "@pawl/platform/rpc/implementation";
import type { ScheduleRecord } from "@pawl/platform/store/schedules/schedules";
import { DEFAULT_TENANT } from "@pawl/core/name/tenant";
import { toWireSchedule } from "@pawl/platform/wire/schedule";
import type { Run } from "@pawl/proto/pawl/v1/run_pb";
import { ScheduleService } from "@pawl/proto/pawl/v1/schedule_service_pb";
import type { Accepted } from "./start-run.ts";
import {
  createSchedule,
  deleteSchedule,
  pauseSchedule,
  resumeSchedule,
  type ScheduleParts,
  triggerSchedule,
  updateSchedule,
} from "./save-schedule.ts";

/** How an accepted run is answered. */
type Answer = (accepted: Accepted, workflowId: string) => Promise<{ run: Run; duplicate: boolean }>;

export function scheduleCommands(parts: ScheduleParts, answer: Answer): ServedService {
  const answered = async (schedule: ScheduleRecord) => {
    const times = await upcoming(parts.occurrences, schedule, OCCURRENCES_SHOWN);
    return { schedule: toWireSchedule(schedule, times) };
  };
  return serve(ScheduleService, {
    createSchedule: async (request) =>
      await answered(await createSchedule(parts, DEFAULT_TENANT, request)),
    updateSchedule: async (request) =>
      await answered(await updateSchedule(parts, DEFAULT_TENANT, request)),
    pauseSchedule: async (request) =>
      await answered(await pauseSchedule(parts, DEFAULT_TENANT, request)),
    resumeSchedule: async (request) =>
      await answered(await resumeSchedule(parts, DEFAULT_TENANT, request)),
    deleteSchedule: async (request) => {
      await deleteSchedule(parts, DEFAULT_TENANT, request);
      return {};
    },
    triggerSchedule: async (request) => {
      const accepted = await triggerSchedule(parts, DEFAULT_TENANT, request);
      return await answer(accepted, accepted.workflowId);
    },
  });
}
