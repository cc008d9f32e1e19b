// Schedules and their alarms, written together. Only the scheduler writes them.
//
// A schedule that will come due has exactly one alarm: its row names it, and both change in one transaction. A firing takes the alarm
// first and then the row, without waiting for the row. An edit takes the row first and then the alarm. So an edit may wait for a
// firing but never the other way round, and the two cannot block each other.

import type { MissedPolicy, OverlapPolicy } from "@pawl/core/policy/schedule";
import type { RunId } from "@pawl/core/name/ids";
import type { AlarmKey } from "../../queue/alarm.ts";

/** What a user asks for. */
export interface ScheduleSpec {
  readonly workflowId: string;
  /** 0 for the newest at each occurrence. */
  readonly workflowVersion: number;
  readonly expression: string;
  readonly timeZone: string;
  /** JSON text. */
  readonly input: string;
  readonly priority: number;
  readonly missed: MissedPolicy;
  readonly overlap: OverlapPolicy;
}

/** A schedule as its row has it. Times are milliseconds since the epoch. */
export interface ScheduleRecord extends AlarmKey {
  readonly spec: ScheduleSpec;
  /** Counts the edits, from 1. */
  readonly version: number;
  /** Null while paused, and once the rule has ended. */
  readonly nextAt: number | null;
  readonly pause: SchedulePause | null;
  /** The newest occurrence that has come due. */
  readonly lastAt: number | null;
  readonly lastRunId: RunId | null;
  /** Why the newest occurrence started nothing; empty when it did. */
  readonly lastError: string;
  readonly startedCount: number;
  readonly skippedCount: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface SchedulePause {
  readonly at: number;
  readonly by: string;
  readonly reason: string;
}

/** An edit: what the user asks for, and by which request. */
export interface ScheduleEdit extends AlarmKey {
  readonly spec: ScheduleSpec;
  readonly requestId: string | null;
  readonly requestHash: string | null;
}

export type SaveScheduleResult =
  | { readonly kind: "saved"; readonly schedule: ScheduleRecord }
  | { readonly kind: "exists" }
  | { readonly kind: "missing" }
  | { readonly kind: "version_mismatch"; readonly currentVersion: number }
  | { readonly kind: "request_reused" };

/** When a recurrence comes due next, or null when it does not any more. */
export type NextOf = (spec: ScheduleSpec) => number | null | Promise<number | null>;

/** A schedule whose alarm has gone off. */
export interface DueSchedule extends ScheduleRecord {
  readonly nextAt: number;
  /** Whether the run of the occurrence before has not ended. */
  readonly isLastRunLive: boolean;
}

/** What became of the occurrences of one firing. */
export interface ScheduleMove {
  readonly nextAt: number | null;
  readonly lastAt: number;
  /** The newest run it started, if any. */
  readonly runId: RunId | null;
  readonly lastError: string;
  readonly startedCount: number;
  readonly skippedCount: number;
}

export interface Firing {
  /** How many alarms were taken. */
  readonly takenCount: number;
  /** The soonest of the alarms set instead. */
  readonly nextAt: number | null;
}

export interface SchedulePage {
  /** Without inputs. */
  readonly schedules: readonly ScheduleRecord[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
}

export interface Schedules {
  create(edit: ScheduleEdit, nextOf: NextOf): Promise<SaveScheduleResult>;
  /** Replaces the spec. Its next occurrence stays when the recurrence did; `expectedVersion` 0 skips the check. */
  update(edit: ScheduleEdit, nextOf: NextOf, expectedVersion: number): Promise<SaveScheduleResult>;
  /** A schedule that is paused already keeps its first pause. */
  pause(
    key: AlarmKey,
    pause: { readonly by: string; readonly reason: string },
  ): Promise<ScheduleRecord | undefined>;
  /** A schedule that is not paused stays as it is. */
  resume(key: AlarmKey, nextOf: NextOf): Promise<ScheduleRecord | undefined>;
  /** False when there is none. */
  remove(key: AlarmKey): Promise<boolean>;
  find(key: AlarmKey): Promise<ScheduleRecord | undefined>;
  /**
   * Takes up to `limit` alarms that are due, asks `judge` what becomes of each schedule, and moves them on, in one transaction. When
   * `judge` throws, the alarms stay as they were. `now` is the store's clock. Two that fire at once take different alarms.
   */
  fire(
    limit: number,
    judge: (schedule: DueSchedule, now: number) => Promise<ScheduleMove>,
  ): Promise<Firing>;
}
