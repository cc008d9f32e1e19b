// Schedules in memory. Only a firing waits between reading and writing, for the runs it starts. No other firing takes its alarms
// meanwhile, and an edit in between replaces its result.

import type { AlarmKey } from "../../queue/alarm.ts";
import { pairKey } from "../memory/staging.ts";
import type { Tables } from "../memory/store.ts";
import {
  type Firing,
  nextAfterEdit,
  refusalOf,
  repeatOf,
  saved,
  type ScheduleMove,
  type Schedules,
  soonestOf,
  type StoredSchedule,
  toSchedule,
} from "./schedules.ts";

const keyOf = ({ tenantId, scheduleId }: AlarmKey): string => pairKey(tenantId, scheduleId);

/** Schedules over the tables. */
export function createMemorySchedules(tables: Tables, now: () => number): Schedules {
  const { schedules, runs } = tables;
  /** Alarms that a firing holds. */
  const taken = new Set<string>();
  const put = (row: StoredSchedule): StoredSchedule => {
    schedules.set(keyOf(row), row);
    return row;
  };
  const isDue = (row: StoredSchedule): boolean =>
    row.nextAt !== null && row.nextAt <= now() && !taken.has(keyOf(row));
  const move = (row: StoredSchedule, moved: ScheduleMove): void => {
    // A user edited or removed the schedule meanwhile.
    if (schedules.get(keyOf(row)) !== row) return;
    const { runId, startedCount, skippedCount, ...rest } = moved;
    put({
      ...row,
      ...rest,
      lastRunId: runId ?? row.lastRunId,
      startedCount: row.startedCount + startedCount,
      skippedCount: row.skippedCount + skippedCount,
    });
  };
  return {
    ...edits(tables, now, put),
    find: async (key) => toRecord(schedules.get(keyOf(key))),
    fire: async (limit, judge): Promise<Firing> => {
      const due = [...schedules.values()].filter(isDue).slice(0, limit);
      for (const row of due) taken.add(keyOf(row));
      try {
        const at = now();
        const moves = await Promise.all(
          due.map(async (row) => {
            const last = row.lastRunId === null ? undefined : runs.get(row.lastRunId);
            const isLastRunLive = last?.endedAt === null;
            const asked = { ...toSchedule(row), nextAt: row.nextAt ?? at, isLastRunLive };
            return { row, moved: await judge(asked, at) };
          }),
        );
        for (const { row, moved } of moves) move(row, moved);
        return { takenCount: due.length, nextAt: soonestOf(moves.map(({ moved }) => moved)) };
      } finally {
        for (const row of due) taken.delete(keyOf(row));
      }
    },
  };
}

/** The changes that users make. */
function edits(
  { schedules }: Tables,
  now: () => number,
  put: (row: StoredSchedule) => StoredSchedule,
): Pick<Schedules, "create" | "update" | "pause" | "resume" | "remove"> {
  return {
    // Each call first waits for the next occurrence, so that nothing happens between the reading of a row and its change.
    create: async (edit, nextOf) => {
      const nextAt = await nextOf(edit.spec);
      const row = schedules.get(keyOf(edit));
      if (row !== undefined) return repeatOf(row, edit) ?? { kind: "exists" };
      const at = now();
      return saved(put({ ...edit, ...NEVER_FIRED, nextAt, createdAt: at, updatedAt: at }));
    },
    update: async (edit, nextOf, expectedVersion) => {
      const next = await nextOf(edit.spec);
      const row = schedules.get(keyOf(edit));
      if (row === undefined) return { kind: "missing" };
      const refused = refusalOf(row, edit, expectedVersion);
      if (refused !== undefined) return refused;
      const nextAt = nextAfterEdit(row, edit, next);
      return saved(put({ ...row, ...edit, nextAt, version: row.version + 1, updatedAt: now() }));
    },
    pause: async (key, { by, reason }) => {
      const row = schedules.get(keyOf(key));
      if (row === undefined || row.pause !== null) return toRecord(row);
      const at = now();
      return toRecord(put({ ...row, nextAt: null, pause: { at, by, reason }, updatedAt: at }));
    },
    resume: async (key, nextOf) => {
      const paused = schedules.get(keyOf(key));
      if (paused === undefined || paused.pause === null) return toRecord(paused);
      const nextAt = await nextOf(paused.spec);
      const row = schedules.get(keyOf(key));
      if (row !== paused) return toRecord(row);
      return toRecord(put({ ...row, nextAt, pause: null, updatedAt: now() }));
    },
    remove: async (key) => schedules.delete(keyOf(key)),
  };
}

const NEVER_FIRED = {
  version: 1,
  alarmId: null,
  pause: null,
  lastAt: null,
  lastRunId: null,
  lastError: "",
  startedCount: 0,
  skippedCount: 0,
} as const;

const toRecord = (row: StoredSchedule | undefined) => row && toSchedule(row);
