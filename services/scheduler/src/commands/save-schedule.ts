// The commands of people about schedules: create, edit, pause, resume, remove and trigger.

import { EngineError, invalidField } from "@pawl/core/fault/engine-error";
import type { Occurrences } from "@pawl/platform/queue/occurrences";
import type {
  SaveScheduleResult,
  ScheduleRecord,
  Schedules,
  ScheduleSpec,
} from "@pawl/platform/store/schedules/schedules";
import type { StartRequest } from "@pawl/platform/wire/requests";
import { notSaved, scheduleNotFound } from "../inputs/errors.ts";
import type { StartAnswer } from "../inputs/input.ts";
import { sha256 } from "./digest.ts";
import type { AdmitParts } from "./parts.ts";
import { checkRunInput } from "../inputs/run-input.ts";
import { startRun } from "./start-run.ts";

export interface ScheduleParts extends AdmitParts {
  readonly schedules: Schedules;
  readonly occurrences: Occurrences;
  /** Called with every alarm that this scheduler sets. */
  readonly onAlarm: (dueInMs: number) => void;
}

/** The name of a schedule, and a request id if the caller sent one. */
interface ScheduleRequest {
  readonly scheduleId: string;
  readonly requestId: string | null;
}

interface SaveRequest extends ScheduleRequest {
  readonly spec: ScheduleSpec;
}

/** @throws INPUT_INVALID, WORKFLOW_NOT_FOUND, SCHEDULE_EXISTS, REQUEST_ID_REUSED, OVERLOADED */
export async function createSchedule(
  parts: ScheduleParts,
  tenantId: string,
  request: SaveRequest,
): Promise<ScheduleRecord> {
  const edit = await editOf(parts, tenantId, request, "create");
  return saved(parts, await parts.schedules.create(edit, nextFrom(parts)), request);
}

/** @throws as createSchedule, and SCHEDULE_NOT_FOUND, VERSION_MISMATCH */
export async function updateSchedule(
  parts: ScheduleParts,
  tenantId: string,
  { expectedVersion, ...request }: SaveRequest & { readonly expectedVersion: number },
): Promise<ScheduleRecord> {
  const edit = await editOf(parts, tenantId, request, `update ${expectedVersion}`);
  const result = await parts.schedules.update(edit, nextFrom(parts), expectedVersion);
  return saved(parts, result, request);
}

/** @throws SCHEDULE_NOT_FOUND */
export async function pauseSchedule(
  { schedules }: ScheduleParts,
  tenantId: string,
  request: { readonly scheduleId: string; readonly by: string; readonly reason: string },
): Promise<ScheduleRecord> {
  const { scheduleId, by, reason } = request;
  return found(await schedules.pause({ tenantId, scheduleId }, { by, reason }), scheduleId);
}

/** @throws SCHEDULE_NOT_FOUND */
export async function resumeSchedule(
  parts: ScheduleParts,
  tenantId: string,
  { scheduleId }: ScheduleRequest,
): Promise<ScheduleRecord> {
  const resumed = await parts.schedules.resume({ tenantId, scheduleId }, nextFrom(parts));
  return expectAlarm(parts, found(resumed, scheduleId));
}

/** @throws SCHEDULE_NOT_FOUND */
export async function deleteSchedule(
  { schedules }: ScheduleParts,
  tenantId: string,
  { scheduleId }: ScheduleRequest,
): Promise<void> {
  if (!(await schedules.remove({ tenantId, scheduleId }))) throw scheduleNotFound(scheduleId);
}

/** Starts a run that is not an occurrence. @throws SCHEDULE_NOT_FOUND, and the errors of startRun */
export async function triggerSchedule(
  parts: ScheduleParts,
  tenantId: string,
  { scheduleId, requestId }: ScheduleRequest,
): Promise<StartAnswer> {
  const { spec } = found(await parts.schedules.find({ tenantId, scheduleId }), scheduleId);
  const request = scheduledStart(spec, requestId ?? crypto.randomUUID());
  return await startRun(parts, tenantId, request, {
    schedule: { scheduleId, at: parts.now() },
  });
}

/** The start of a run for a schedule. */
export const scheduledStart = (
  { workflowId, workflowVersion: version, input, priority }: ScheduleSpec,
  requestId: string,
): StartRequest => ({ workflowId, version, input, priority, requestId });

async function editOf(
  { now, occurrences, definitions }: ScheduleParts,
  tenantId: string,
  { scheduleId, requestId, spec }: SaveRequest,
  kind: string,
) {
  const { workflowId, workflowVersion: version } = spec;
  const fault = await occurrences.fault(spec, now());
  if (fault !== undefined)
    throw invalidField(`spec.${fault.field}`, fault.reason, fault.description);
  const workflow = await definitions.find(tenantId, workflowId, version);
  if (workflow === undefined) throw noWorkflow(workflowId, version);
  checkRunInput(workflow.graph, spec.input, "spec.input_json");
  const requestHash = requestId === null ? null : sha256(kind, JSON.stringify(spec));
  return { tenantId, scheduleId, spec, requestId, requestHash };
}

/** The error names the wrong field. */
function noWorkflow(workflowId: string, version: number): EngineError {
  const [field, description] =
    version === 0
      ? ["spec.workflow_id", `there is no workflow ${workflowId}`]
      : ["spec.workflow_version", `workflow ${workflowId} has no version ${version}`];
  return new EngineError("WORKFLOW_NOT_FOUND", `${field}: ${description}.`, {
    metadata: { workflow_id: workflowId, version: String(version) },
    violations: [{ field, reason: "UNKNOWN_WORKFLOW", description }],
  });
}

const nextFrom =
  ({ now, occurrences }: ScheduleParts) =>
  (spec: ScheduleSpec): Promise<number | null> =>
    occurrences.next(spec, now());

function expectAlarm({ now, onAlarm }: ScheduleParts, schedule: ScheduleRecord): ScheduleRecord {
  if (schedule.nextAt !== null) onAlarm(schedule.nextAt - now());
  return schedule;
}

function found(schedule: ScheduleRecord | undefined, scheduleId: string): ScheduleRecord {
  if (schedule === undefined) throw scheduleNotFound(scheduleId);
  return schedule;
}

function saved(
  parts: ScheduleParts,
  result: SaveScheduleResult,
  { scheduleId, requestId }: ScheduleRequest,
): ScheduleRecord {
  if (result.kind === "saved") return expectAlarm(parts, result.schedule);
  throw notSaved("schedule", scheduleId, requestId, result);
}
