// Schedules: create, read, edit, pause, resume, preview, trigger, delete.

import type { Client } from "@connectrpc/connect";
import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { MissedPolicy, OverlapPolicy, type Schedule } from "@pawl/proto/pawl/v1/schedule_pb";
import type { ScheduleService } from "@pawl/proto/pawl/v1/schedule_service_pb";
import {
  type Caller,
  identified,
  type MutationOptions,
  type Page,
  type PageOptions,
  type PauseOptions,
  type PawlCallOptions,
  pick,
} from "./caller.ts";
import { startedOf } from "./execute.ts";
import { bytesOf, type Json } from "./json.ts";
import type { StartedRun } from "./runs.ts";

/** The policy for occurrences that came due while no scheduler ran. */
export type Missed = "skip" | "run_once" | "run_all";
/** The policy for an occurrence while the run of the previous one is live. */
export type Overlap = "allow" | "skip";

export interface ScheduleInput {
  readonly workflowId: string;
  /** The version of the workflow. By default the newest at each occurrence. */
  readonly workflowVersion?: number | undefined;
  /** Cron (five fields, six with seconds first, or a macro) or an RFC 5545 rule. */
  readonly expression: string;
  /** IANA time zone; default UTC. */
  readonly timeZone?: string | undefined;
  /** The input of every run as a value. */
  readonly input?: Json | undefined;
  /** The input as JSON text, kept to the letter. It takes precedence. */
  readonly inputJson?: string | undefined;
  /** A lower number is sooner. -1000 to 1000, default 0. */
  readonly priority?: number | undefined;
  /** Default skip. */
  readonly missed?: Missed | undefined;
  /** Default allow. */
  readonly overlap?: Overlap | undefined;
}

export type SchedulePage = Page<"schedules", Schedule>;

export interface PreviewOptions extends PawlCallOptions {
  readonly timeZone?: string | undefined;
  /** How many at most; default 5, at most 50. */
  readonly count?: number | undefined;
  /** Times strictly after this; default now. */
  readonly from?: Date | undefined;
}

export interface ListSchedulesOptions extends PageOptions {
  readonly workflowId?: string | undefined;
}

export interface Schedules {
  /** @throws PawlError SCHEDULE_EXISTS, INPUT_INVALID, WORKFLOW_NOT_FOUND */
  create(scheduleId: string, input: ScheduleInput, options?: MutationOptions): Promise<Schedule>;
  /** Replaces the whole specification. @throws PawlError VERSION_MISMATCH when `expectedVersion` is not the newest */
  update(
    scheduleId: string,
    input: ScheduleInput,
    options?: MutationOptions & { readonly expectedVersion?: number | undefined },
  ): Promise<Schedule>;
  get(scheduleId: string, options?: PawlCallOptions): Promise<Schedule>;
  list(options?: ListSchedulesOptions): Promise<SchedulePage>;
  pause(scheduleId: string, options?: PauseOptions): Promise<Schedule>;
  resume(scheduleId: string, options?: MutationOptions): Promise<Schedule>;
  delete(scheduleId: string, options?: MutationOptions): Promise<void>;
  /** The next times of an expression, or of a saved schedule. */
  preview(
    of: { readonly expression: string } | { readonly scheduleId: string },
    options?: PreviewOptions,
  ): Promise<readonly Date[]>;
  /** Starts a run now. It does not change the occurrences. */
  trigger(scheduleId: string, options?: MutationOptions): Promise<StartedRun>;
}

const MISSED: Record<Missed, MissedPolicy> = {
  skip: MissedPolicy.SKIP,
  run_once: MissedPolicy.RUN_ONCE,
  run_all: MissedPolicy.RUN_ALL,
};
const OVERLAP: Record<Overlap, OverlapPolicy> = {
  allow: OverlapPolicy.ALLOW,
  skip: OverlapPolicy.SKIP,
};

export function createSchedules(rpc: Client<typeof ScheduleService>, call: Caller): Schedules {
  return {
    create: (scheduleId, input, options) => {
      const request = { ...identified(options), scheduleId, spec: specOf(input) };
      return pick(call(rpc.createSchedule, request), "schedule");
    },
    update: (scheduleId, input, options) => {
      const request = { ...identified(options), scheduleId, spec: specOf(input) };
      return pick(call(rpc.updateSchedule, request), "schedule");
    },
    get: (scheduleId, options) =>
      pick(call(rpc.getSchedule, { ...options, scheduleId }), "schedule"),
    list: (options = {}) => call(rpc.listSchedules, options),
    pause: (scheduleId, options) => {
      const request = { ...identified(options), scheduleId, pausedBy: options?.by };
      return pick(call(rpc.pauseSchedule, request), "schedule");
    },
    resume: (scheduleId, options) =>
      pick(call(rpc.resumeSchedule, { ...identified(options), scheduleId }), "schedule"),
    async delete(scheduleId, options) {
      await call(rpc.deleteSchedule, { ...identified(options), scheduleId });
    },
    async preview(of, { from, ...options } = {}) {
      const fromTime = from === undefined ? undefined : timestampFromDate(from);
      const { times } = await call(rpc.previewSchedule, { ...options, ...of, fromTime });
      return times.map(timestampDate);
    },
    trigger: async (scheduleId, options) =>
      startedOf(await call(rpc.triggerSchedule, { ...identified(options), scheduleId })),
  };
}

function specOf(input: ScheduleInput) {
  const { workflowId, workflowVersion = 0, expression, timeZone = "", priority = 0 } = input;
  return {
    workflowId,
    workflowVersion,
    expression,
    timeZone,
    priority,
    inputJson: bytesOf(input.input, input.inputJson) ?? new Uint8Array(),
    missed: MISSED[input.missed ?? "skip"],
    overlap: OVERLAP[input.overlap ?? "allow"],
  };
}
