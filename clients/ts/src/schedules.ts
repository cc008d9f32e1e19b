// Schedules: create, read, edit, pause, resume, preview, trigger, delete.

import type { Client } from "@connectrpc/connect";
import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { MissedPolicy, OverlapPolicy, type Schedule } from "@pawl/proto/pawl/v1/schedule_pb";
import type { ScheduleService } from "@pawl/proto/pawl/v1/schedule_service_pb";
import {
  type Caller,
  type MutationOptions,
  type PawlCallOptions,
  present,
  requestIdOf,
} from "./caller.ts";
import { type Json, jsonBytes, jsonTextBytes } from "./json.ts";
import type { StartedRun } from "./runs.ts";

/** What to do about occurrences that came due while nothing was there to start them. */
export type Missed = "skip" | "run_once" | "run_all";
/** What to do about an occurrence while the run of the one before lives. */
export type Overlap = "allow" | "skip";

export interface ScheduleInput {
  readonly workflowId: string;
  /** Which version; default the newest at each occurrence. */
  readonly workflowVersion?: number | undefined;
  /** Cron (five fields, six with seconds first, or a macro) or an RFC 5545 rule. */
  readonly expression: string;
  /** IANA time zone; default UTC. */
  readonly timeZone?: string | undefined;
  /** The input of every run as a value. */
  readonly input?: Json | undefined;
  /** The input as JSON text, kept to the letter; takes precedence. */
  readonly inputJson?: string | undefined;
  /** Sooner for lower numbers; -1000 to 1000, default 0. */
  readonly priority?: number | undefined;
  /** Default skip. */
  readonly missed?: Missed | undefined;
  /** Default allow. */
  readonly overlap?: Overlap | undefined;
}

export interface SchedulePage {
  readonly schedules: readonly Schedule[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
}

export interface PreviewOptions extends PawlCallOptions {
  readonly timeZone?: string | undefined;
  /** How many at most; default 5, at most 50. */
  readonly count?: number | undefined;
  /** Times strictly after this; default now. */
  readonly from?: Date | undefined;
}

export interface ListSchedulesOptions extends PawlCallOptions {
  readonly workflowId?: string | undefined;
  readonly pageSize?: number | undefined;
  readonly pageToken?: string | undefined;
}

export interface Schedules {
  /** @throws PawlError SCHEDULE_EXISTS, INPUT_INVALID, WORKFLOW_NOT_FOUND */
  create(scheduleId: string, input: ScheduleInput, options?: MutationOptions): Promise<Schedule>;
  /** Replaces what was asked for. @throws PawlError VERSION_MISMATCH when `expectedVersion` is not the newest */
  update(
    scheduleId: string,
    input: ScheduleInput,
    options?: MutationOptions & { readonly expectedVersion?: number },
  ): Promise<Schedule>;
  get(scheduleId: string, options?: PawlCallOptions): Promise<Schedule>;
  list(options?: ListSchedulesOptions): Promise<SchedulePage>;
  pause(
    scheduleId: string,
    options?: MutationOptions & { readonly by?: string; readonly reason?: string },
  ): Promise<Schedule>;
  resume(scheduleId: string, options?: MutationOptions): Promise<Schedule>;
  delete(scheduleId: string, options?: MutationOptions): Promise<void>;
  /** The next times of an expression, or of a saved schedule. */
  preview(
    of: { readonly expression: string } | { readonly scheduleId: string },
    options?: PreviewOptions,
  ): Promise<readonly Date[]>;
  /** Starts a run now, beside the occurrences. */
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

/** The schedule methods of a client. */
export function createSchedules(rpc: Client<typeof ScheduleService>, call: Caller): Schedules {
  return {
    async create(scheduleId, input, options = {}) {
      const request = { scheduleId, spec: specOf(input), requestId: requestIdOf(options) };
      return present((await call(options, (o) => rpc.createSchedule(request, o))).schedule);
    },
    async update(scheduleId, input, options = {}) {
      const { expectedVersion = 0 } = options;
      const requestId = requestIdOf(options);
      const request = { scheduleId, spec: specOf(input), expectedVersion, requestId };
      return present((await call(options, (o) => rpc.updateSchedule(request, o))).schedule);
    },
    async get(scheduleId, options) {
      return present((await call(options, (o) => rpc.getSchedule({ scheduleId }, o))).schedule);
    },
    async list(options = {}) {
      const { workflowId = "", pageSize = 0, pageToken = "" } = options;
      const request = { workflowId, pageSize, pageToken };
      const page = await call(options, (o) => rpc.listSchedules(request, o));
      return { schedules: page.schedules, nextPageToken: page.nextPageToken };
    },
    async pause(scheduleId, options = {}) {
      const { by: pausedBy = "", reason = "" } = options;
      const request = { scheduleId, pausedBy, reason, requestId: requestIdOf(options) };
      return present((await call(options, (o) => rpc.pauseSchedule(request, o))).schedule);
    },
    async resume(scheduleId, options) {
      const request = { scheduleId, requestId: requestIdOf(options) };
      return present((await call(options, (o) => rpc.resumeSchedule(request, o))).schedule);
    },
    async delete(scheduleId, options) {
      const request = { scheduleId, requestId: requestIdOf(options) };
      await call(options, (o) => rpc.deleteSchedule(request, o));
    },
    async preview(of, options = {}) {
      const { timeZone = "", count = 0, from } = options;
      const time = from === undefined ? {} : { fromTime: timestampFromDate(from) };
      const request = { ...of, timeZone, count, ...time };
      const { times } = await call(options, (o) => rpc.previewSchedule(request, o));
      return times.map(timestampDate);
    },
    async trigger(scheduleId, options) {
      const request = { scheduleId, requestId: requestIdOf(options) };
      const response = await call(options, (o) => rpc.triggerSchedule(request, o));
      return { run: present(response.run), isDuplicate: response.duplicate };
    },
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
    inputJson: inputBytes(input),
    missed: MISSED[input.missed ?? "skip"],
    overlap: OVERLAP[input.overlap ?? "allow"],
  };
}

function inputBytes({ input, inputJson }: ScheduleInput): Uint8Array {
  if (inputJson !== undefined) return jsonTextBytes(inputJson);
  return input === undefined ? new Uint8Array() : jsonBytes(input);
}
