// Schedules in memory. Only a firing waits between reading and writing, for the runs it starts. No other firing takes its alarms
// meanwhile, and an edit in between wins.

import type { AlarmKey } from "../../queue/alarm.ts";
import type {
  Firing,
  SaveScheduleResult,
  ScheduleEdit,
  ScheduleMove,
  ScheduleRecord,
  Schedules,
} from "./schedules.ts";
import { pairKey, type Tables } from "../memory/tables.ts";

export type StoredSchedule = ScheduleRecord & ScheduleEdit;

const keyOf = ({ tenantId, scheduleId }: AlarmKey): string => pairKey(tenantId, scheduleId);

/** Schedules over the tables. */
export function createMemorySchedules(tables: Tables, now: () => number): Schedules {
  const { schedules, runs } = tables;
  /** Alarms that some firing holds. */
  const taken = new Set<string>();
  const put = (row: StoredSchedule): StoredSchedule => {
    schedules.set(keyOf(row), row);
    return row;
  };
  const isDue = (row: StoredSchedule): boolean =>
    row.nextAt !== null && row.nextAt <= now() && !taken.has(keyOf(row));
  const move = (row: StoredSchedule, moved: ScheduleMove): void => {
    // Another row, or none: it was edited or removed meanwhile.
    if (schedules.get(keyOf(row)) !== row) return;
    put({
      ...row,
      nextAt: moved.nextAt,
      lastAt: moved.lastAt,
      lastRunId: moved.runId ?? row.lastRunId,
      lastError: moved.lastError,
      startedCount: row.startedCount + moved.startedCount,
      skippedCount: row.skippedCount + moved.skippedCount,
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
          due.map((row) => {
            const last = row.lastRunId === null ? undefined : runs.get(row.lastRunId);
            const isLastRunLive = last !== undefined && last.endedAt === null;
            return judge({ ...columns(row), nextAt: row.nextAt ?? at, isLastRunLive }, at);
          }),
        );
        const nexts = moves.flatMap(({ nextAt }) => nextAt ?? []);
        for (const [index, row] of due.entries()) {
          const moved = moves[index];
          if (moved !== undefined) move(row, moved);
        }
        return { takenCount: due.length, nextAt: nexts.length === 0 ? null : Math.min(...nexts) };
      } finally {
        for (const row of due) taken.delete(keyOf(row));
      }
    },
  };
}

/** What people change. */
function edits(
  { schedules }: Tables,
  now: () => number,
  put: (row: StoredSchedule) => StoredSchedule,
): Pick<Schedules, "create" | "update" | "pause" | "resume" | "remove"> {
  return {
    // What is computed is waited for first: nothing comes between the reading of a row and its change.
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
      const repeated = repeatOf(row, edit);
      if (repeated !== undefined) return repeated;
      if (expectedVersion !== 0 && expectedVersion !== row.version)
        return { kind: "version_mismatch", currentVersion: row.version };
      const stays =
        edit.spec.expression === row.spec.expression && edit.spec.timeZone === row.spec.timeZone;
      const kept = stays ? row.nextAt : next;
      const nextAt = row.pause === null ? kept : null;
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
  pause: null,
  lastAt: null,
  lastRunId: null,
  lastError: "",
  startedCount: 0,
  skippedCount: 0,
} as const;

function columns(row: StoredSchedule): ScheduleRecord {
  const { requestId: _request, requestHash: _hash, ...record } = row;
  return record;
}

const toRecord = (row: StoredSchedule | undefined): ScheduleRecord | undefined =>
  row && columns(row);
const saved = (row: StoredSchedule): SaveScheduleResult => ({
  kind: "saved",
  schedule: columns(row),
});

function repeatOf(row: StoredSchedule, edit: ScheduleEdit): SaveScheduleResult | undefined {
  if (edit.requestId === null || row.requestId !== edit.requestId) return undefined;
  return row.requestHash === edit.requestHash ? saved(row) : { kind: "request_reused" };
}
