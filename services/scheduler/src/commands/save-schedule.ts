// What people do to schedules: create, edit, pause, resume, remove, trigger.

import { LIMITS } from "@pawl/core/data/limits";
import { EngineError } from "@pawl/core/fault/engine-error";
import { unreachable } from "@pawl/core/fault/invariant";
import type { Occurrences } from "@pawl/platform/queue/occurrences";
import type {
  SaveScheduleResult,
  ScheduleRecord,
  Schedules,
} from "@pawl/platform/store/schedules/schedules";
import { requestIdOf } from "@pawl/platform/wire/request-id";
import type {
  CreateScheduleRequest,
  DeleteScheduleRequest,
  PauseScheduleRequest,
  ResumeScheduleRequest,
  TriggerScheduleRequest,
  UpdateScheduleRequest,
} from "@pawl/proto/pawl/v1/schedule_service_pb";
import { sha256 } from "./digest.ts";
import type { AdmitParts } from "./parts.ts";
import { scheduleIdOf } from "./request.ts";
import { type Accepted, startRun } from "./start-run.ts";
import { cleanText } from "../sessions/wire.ts";
import { startRequestOf } from "./scheduled-start.ts";
import { checkWorkflow, specOf } from "./spec.ts";

export interface ScheduleParts extends AdmitParts {
  readonly schedules: Schedules;
  readonly occurrences: Occurrences;
  /** Told of every alarm set here. */
  readonly onAlarm: (dueInMs: number) => void;
}

type Saved = Promise<ScheduleRecord>;

/** @throws INPUT_INVALID, LIMIT_EXCEEDED, WORKFLOW_NOT_FOUND, SCHEDULE_EXISTS, REQUEST_ID_REUSED */
export async function createSchedule(
  parts: ScheduleParts,
  tenantId: string,
  request: CreateScheduleRequest,
): Saved {
  const edit = await editOf(parts, tenantId, request, "create");
  return saved(parts, await parts.schedules.create(edit, nextFrom(parts)), edit);
}

/** @throws as createSchedule, and SCHEDULE_NOT_FOUND, VERSION_MISMATCH */
export async function updateSchedule(
  parts: ScheduleParts,
  tenantId: string,
  request: UpdateScheduleRequest,
): Saved {
  const { expectedVersion } = request;
  const edit = await editOf(parts, tenantId, request, `update ${expectedVersion}`);
  const result = await parts.schedules.update(edit, nextFrom(parts), expectedVersion);
  return saved(parts, result, edit);
}

/** @throws INPUT_INVALID, SCHEDULE_NOT_FOUND */
export async function pauseSchedule(
  { schedules }: ScheduleParts,
  tenantId: string,
  request: PauseScheduleRequest,
): Saved {
  const scheduleId = scheduleIdOf(request.scheduleId);
  requestIdOf(request.requestId);
  const by = cleanText(request.pausedBy, LIMITS.labelLength);
  const reason = cleanText(request.reason, LIMITS.labelLength);
  return found(await schedules.pause({ tenantId, scheduleId }, { by, reason }), scheduleId);
}

/** @throws INPUT_INVALID, SCHEDULE_NOT_FOUND */
export async function resumeSchedule(
  parts: ScheduleParts,
  tenantId: string,
  request: ResumeScheduleRequest,
): Saved {
  const scheduleId = scheduleIdOf(request.scheduleId);
  requestIdOf(request.requestId);
  const resumed = await parts.schedules.resume({ tenantId, scheduleId }, nextFrom(parts));
  const schedule = found(resumed, scheduleId);
  tell(parts, schedule);
  return schedule;
}

/** @throws INPUT_INVALID, SCHEDULE_NOT_FOUND */
export async function deleteSchedule(
  { schedules }: ScheduleParts,
  tenantId: string,
  request: DeleteScheduleRequest,
): Promise<void> {
  const scheduleId = scheduleIdOf(request.scheduleId);
  requestIdOf(request.requestId);
  if (!(await schedules.remove({ tenantId, scheduleId }))) throw scheduleNotFound(scheduleId);
}

/** Starts a run beside the occurrences. @throws SCHEDULE_NOT_FOUND, and whatever startRun throws */
export async function triggerSchedule(
  parts: ScheduleParts,
  tenantId: string,
  request: TriggerScheduleRequest,
): Promise<Accepted & { readonly workflowId: string }> {
  const scheduleId = scheduleIdOf(request.scheduleId);
  const schedule = found(await parts.schedules.find({ tenantId, scheduleId }), scheduleId);
  const requestId = requestIdOf(request.requestId) ?? crypto.randomUUID();
  const occurrence = { schedule: { scheduleId, at: parts.now() }, requestId };
  const accepted = await startRun(parts, tenantId, startRequestOf(schedule), occurrence);
  return { ...accepted, workflowId: schedule.spec.workflowId };
}

async function editOf(
  parts: ScheduleParts,
  tenantId: string,
  request: CreateScheduleRequest | UpdateScheduleRequest,
  kind: string,
) {
  const scheduleId = scheduleIdOf(request.scheduleId);
  const requestId = requestIdOf(request.requestId);
  const spec = await specOf(request.spec, parts.now(), parts.occurrences);
  await checkWorkflow(parts.workflows, tenantId, spec);
  const requestHash = requestId === null ? null : sha256(kind, JSON.stringify(spec));
  return { tenantId, scheduleId, spec, requestId, requestHash };
}

const nextFrom =
  ({ now, occurrences }: ScheduleParts) =>
  (spec: ScheduleRecord["spec"]): Promise<number | null> =>
    occurrences.next(spec, now());

function tell({ now, onAlarm }: ScheduleParts, { nextAt }: ScheduleRecord): void {
  if (nextAt !== null) onAlarm(nextAt - now());
}

function found(schedule: ScheduleRecord | undefined, scheduleId: string): ScheduleRecord {
  if (schedule === undefined) throw scheduleNotFound(scheduleId);
  return schedule;
}

function saved(
  parts: ScheduleParts,
  result: SaveScheduleResult,
  { scheduleId, requestId }: Awaited<ReturnType<typeof editOf>>,
): ScheduleRecord {
  const metadata = { schedule_id: scheduleId };
  switch (result.kind) {
    case "saved":
      tell(parts, result.schedule);
      return result.schedule;
    case "exists":
      throw new EngineError(
        "SCHEDULE_EXISTS",
        `There is a schedule ${scheduleId} already; update it instead.`,
        { metadata },
      );
    case "missing":
      throw scheduleNotFound(scheduleId);
    case "version_mismatch":
      throw new EngineError(
        "VERSION_MISMATCH",
        `Schedule ${scheduleId} is at version ${result.currentVersion} by now; read it and edit again.`,
        { metadata: { ...metadata, current_version: String(result.currentVersion) } },
      );
    case "request_reused":
      throw new EngineError(
        "REQUEST_ID_REUSED",
        "This request id was used before with another body; use a new one.",
        { metadata: { ...metadata, request_id: requestId ?? "" } },
      );
    default:
      return unreachable(result, "save result");
  }
}

const scheduleNotFound = (scheduleId: string): EngineError =>
  new EngineError("SCHEDULE_NOT_FOUND", `There is no schedule ${scheduleId}.`, {
    metadata: { schedule_id: scheduleId },
  });
