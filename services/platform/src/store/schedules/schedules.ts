// Schedules and their alarms, written together. Only the scheduler writes them.
//
// A schedule with a next occurrence has exactly one alarm: its row names it, and both change in one transaction. A firing takes the alarm
// first and then the row, without waiting for the row. An edit takes the row first and then the alarm. So an edit may wait for a firing,
// and a firing never waits for an edit. The two cannot block each other.

import type { MissedPolicy, OverlapPolicy } from "@pawl/core/policy/schedule";
import type { RunId } from "@pawl/core/name/ids";
import { json, number, orNull, text, time, uuid } from "../../db/columns.ts";
import type { Typed } from "../../db/query.ts";
import type { AlarmKey } from "../../queue/alarm.ts";
import type { Page } from "../page.ts";

/** The parts of a schedule that a user chooses. */
export const SPEC = {
  workflowId: text(),
  /** 0 means the newest version at each occurrence. */
  workflowVersion: number(),
  expression: text(),
  timeZone: text(),
  /** JSON text. */
  input: text(),
  priority: number(),
  missed: text<MissedPolicy>(),
  overlap: text<OverlapPolicy>(),
};
export type ScheduleSpec = Typed<typeof SPEC>;

interface SchedulePause {
  readonly at: number;
  readonly by: string;
  readonly reason: string;
}

export const SCHEDULE_KEY = { tenantId: text(), scheduleId: text() };
/** The columns of a schedule. */
export const SCHEDULE = {
  ...SCHEDULE_KEY,
  spec: json<ScheduleSpec>(),
  /** Counts the edits, from 1. */
  version: number(),
  /** Null while paused, and after the last occurrence. */
  nextAt: orNull(time()),
  pause: orNull(json<SchedulePause>()),
  /** The newest occurrence that has come due. */
  lastAt: orNull(time()),
  lastRunId: orNull(uuid<RunId>()),
  /** Why the newest occurrence started no run. Empty if it started one. */
  lastError: text(),
  startedCount: number(),
  skippedCount: number(),
  createdAt: time(),
  updatedAt: time(),
};
export type ScheduleRecord = Typed<typeof SCHEDULE>;
/** A page leaves the inputs out. */
export type SchedulePage = Page<ScheduleRecord>;

const REQUEST = { requestId: orNull(text()), requestHash: orNull(text()) };
/** A schedule with the request that edited it last, and its alarm. */
export const STORED = { ...SCHEDULE, ...REQUEST, alarmId: orNull(uuid()) };
export type StoredSchedule = Typed<typeof STORED>;
/** An edit of a user, and the request that brought it. */
export const EDIT = { ...SCHEDULE_KEY, ...REQUEST };
export interface ScheduleEdit extends Typed<typeof EDIT> {
  readonly spec: ScheduleSpec;
}

export type SaveScheduleResult =
  | { readonly kind: "saved"; readonly schedule: ScheduleRecord }
  | { readonly kind: "exists" }
  | { readonly kind: "missing" }
  | { readonly kind: "version_mismatch"; readonly currentVersion: number }
  | { readonly kind: "request_reused" };

/** The next occurrence of a recurrence. Null after its last occurrence. */
type NextOf = (spec: ScheduleSpec) => number | null | Promise<number | null>;

/** A schedule whose alarm has gone off. */
export interface DueSchedule extends ScheduleRecord {
  readonly nextAt: number;
  /** Whether the run of the occurrence before is still live. */
  readonly isLastRunLive: boolean;
}

/** The result of the occurrences of one firing. */
export const MOVE = {
  nextAt: orNull(number()),
  lastAt: number(),
  /** The newest run it started, if any. */
  runId: orNull(uuid<RunId>()),
  lastError: text(),
  startedCount: number(),
  skippedCount: number(),
};
export type ScheduleMove = Typed<typeof MOVE>;

export interface Firing {
  /** How many alarms were taken. */
  readonly takenCount: number;
  /** The soonest time of the newly set alarms. */
  readonly nextAt: number | null;
}

export interface Schedules {
  create(edit: ScheduleEdit, nextOf: NextOf): Promise<SaveScheduleResult>;
  /** Replaces the spec. The next occurrence stays if the recurrence stays. `expectedVersion` 0 skips the check. */
  update(edit: ScheduleEdit, nextOf: NextOf, expectedVersion: number): Promise<SaveScheduleResult>;
  /** Pauses a schedule. A schedule that is already paused keeps its first pause. */
  pause(
    key: AlarmKey,
    pause: { readonly by: string; readonly reason: string },
  ): Promise<ScheduleRecord | undefined>;
  /** Resumes a schedule. A schedule that is not paused stays unchanged. */
  resume(key: AlarmKey, nextOf: NextOf): Promise<ScheduleRecord | undefined>;
  /** False if there is none. */
  remove(key: AlarmKey): Promise<boolean>;
  find(key: AlarmKey): Promise<ScheduleRecord | undefined>;
  /**
   * Takes up to `limit` due alarms, and advances each schedule as `judge` decides, in one transaction. If `judge` throws, the alarms stay.
   * `now` is the store's clock. Two schedulers that fire at once take different alarms.
   */
  fire(
    limit: number,
    judge: (schedule: DueSchedule, now: number) => Promise<ScheduleMove>,
  ): Promise<Firing>;
}

export function toSchedule(row: StoredSchedule): ScheduleRecord {
  const { requestId: _request, requestHash: _hash, alarmId: _alarm, ...schedule } = row;
  return schedule;
}

export const saved = (row: StoredSchedule): SaveScheduleResult => ({
  kind: "saved",
  schedule: toSchedule(row),
});

/** The answer to a repeated edit. Undefined for a new request. */
export function repeatOf(row: StoredSchedule, edit: ScheduleEdit): SaveScheduleResult | undefined {
  if (edit.requestId === null || row.requestId !== edit.requestId) return undefined;
  return row.requestHash === edit.requestHash ? saved(row) : { kind: "request_reused" };
}

/** Why an edit does not change a schedule. Undefined if it does. */
export function refusalOf(
  row: StoredSchedule,
  edit: ScheduleEdit,
  expectedVersion: number,
): SaveScheduleResult | undefined {
  const repeat = repeatOf(row, edit);
  if (repeat !== undefined || expectedVersion === 0 || expectedVersion === row.version)
    return repeat;
  return { kind: "version_mismatch", currentVersion: row.version };
}

/** The next occurrence after an edit. It stays if the recurrence stays. */
export function nextAfterEdit(
  row: ScheduleRecord,
  { spec }: ScheduleEdit,
  nextAt: number | null,
): number | null {
  const { expression, timeZone } = row.spec;
  if (row.pause !== null) return null;
  return spec.expression === expression && spec.timeZone === timeZone ? row.nextAt : nextAt;
}

/** The first of the occurrences that moves set. */
export function soonestOf(moves: readonly ScheduleMove[]): number | null {
  const times = moves.flatMap(({ nextAt }) => nextAt ?? []);
  return times.length === 0 ? null : Math.min(...times);
}
