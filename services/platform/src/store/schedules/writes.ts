// Writes schedules in PostgreSQL and their alarms in pg-boss, both in one transaction. Races. Two users create one id: the primary key lets
// one of them. Two users edit one schedule: the row lock makes them take turns. A firing never waits for a row (schedules.ts).

import { randomUUID } from "node:crypto";
import { flag, lists, number, orNull, text, uuid } from "../../db/columns.ts";
import { isOvertaken } from "../../db/failure.ts";
import type { Pool } from "../../db/pool.ts";
import { first, queriesBeside, type Queryable, run, type Typed, valuesOf } from "../../db/query.ts";
import type { AlarmKey, Alarms } from "../../queue/alarm.ts";
import { getSchedule } from "./reads.ts";
import {
  EDIT,
  type Firing,
  MOVE,
  nextAfterEdit,
  refusalOf,
  repeatOf,
  saved,
  SCHEDULE_KEY,
  type ScheduleEdit,
  type ScheduleRecord,
  type Schedules,
  soonestOf,
  SPEC,
  STORED,
  type StoredSchedule,
  toSchedule,
} from "./schedules.ts";

const declare = queriesBeside(import.meta.url);

const NEXT = { nextAt: orNull(number()), alarmId: orNull(uuid()) };
const VALUES = { ...EDIT, ...SPEC, ...NEXT };
const lockOne = declare("lock", SCHEDULE_KEY, STORED);
const lockDue = declare("lock_due", lists({ ...SCHEDULE_KEY, alarmId: uuid() }), {
  ...STORED,
  isLastRunLive: flag(),
  nowMs: number(),
});
const insert = declare("insert", VALUES, STORED);
const replace = declare("edit", VALUES, STORED);
const pause = declare("pause", { ...SCHEDULE_KEY, by: text(), reason: text() }, STORED);
const resume = declare("resume", { ...SCHEDULE_KEY, ...NEXT }, STORED);
const moveAll = declare("move", lists({ ...SCHEDULE_KEY, ...NEXT, ...MOVE }));
const remove = declare("delete", SCHEDULE_KEY);

/** Schedules over a pool. */
export function createSchedules(db: Pool, alarms: Alarms): Schedules {
  const change = <T>(work: (tx: Queryable) => Promise<T>): Promise<T> =>
    db.transaction(work, isOvertaken);
  /** Replaces the alarm of a row that changed. */
  const ring = async (tx: Queryable, old: string | null, row: StoredSchedule): Promise<void> => {
    if (old === row.alarmId) return;
    if (old !== null) await alarms.clear(tx, old);
    await alarms.set(tx, alarmOf(row));
  };
  /** Changes a schedule by `turn`, and its alarm with it. */
  const turned = (
    key: AlarmKey,
    turn: (tx: Queryable, row: StoredSchedule) => Promise<StoredSchedule>,
  ): Promise<ScheduleRecord | undefined> =>
    change(async (tx) => {
      const row = await lock(tx, key);
      if (row === undefined) return undefined;
      const after = await turn(tx, row);
      await ring(tx, row.alarmId, after);
      return toSchedule(after);
    });
  return {
    create: async (edit, nextOf) => {
      const nextAt = await nextOf(edit.spec);
      return await change(async (tx) => {
        const row = await lock(tx, edit);
        if (row !== undefined) return repeatOf(row, edit) ?? { kind: "exists" };
        const made = only(await first(tx, insert, editValues(edit, nextAt)));
        await ring(tx, null, made);
        return saved(made);
      });
    },
    update: async (edit, nextOf, expectedVersion) => {
      const nextAt = await nextOf(edit.spec);
      return await change(async (tx) => {
        const row = await lock(tx, edit);
        if (row === undefined) return { kind: "missing" };
        const refused = refusalOf(row, edit, expectedVersion);
        if (refused !== undefined) return refused;
        const next = nextAfterEdit(row, edit, nextAt);
        const after = only(await first(tx, replace, editValues(edit, next)));
        await ring(tx, row.alarmId, after);
        return saved(after);
      });
    },
    pause: (key, { by, reason }) =>
      turned(key, async (tx, row) =>
        row.pause === null ? only(await first(tx, pause, { ...key, by, reason })) : row,
      ),
    resume: (key, nextOf) =>
      turned(key, async (tx, row) => {
        if (row.pause === null) return row;
        const nextAt = await nextOf(row.spec);
        return only(await first(tx, resume, { ...key, nextAt, alarmId: alarmFor(nextAt) }));
      }),
    remove: (key) =>
      change(async (tx) => {
        const row = await lock(tx, key);
        if (row === undefined) return false;
        await run(tx, remove, key);
        if (row.alarmId !== null) await alarms.clear(tx, row.alarmId);
        return true;
      }),
    find: ({ tenantId, scheduleId }) => getSchedule(db, tenantId, scheduleId),
    fire: (limit, judge) => db.transaction((tx) => fire(tx, alarms, limit, judge)),
  };
}

async function fire(
  tx: Queryable,
  alarms: Alarms,
  limit: number,
  judge: Parameters<Schedules["fire"]>[1],
): Promise<Firing> {
  const taken = await alarms.take(tx, limit);
  if (taken.length === 0) return { takenCount: 0, nextAt: null };
  const rows = await run(tx, lockDue, valuesOf(lockDue, taken));
  const moves = await Promise.all(
    rows.map(async ({ nowMs, isLastRunLive, ...row }) => {
      const due = { ...toSchedule(row), nextAt: row.nextAt ?? nowMs, isLastRunLive };
      const move = await judge(due, Math.trunc(nowMs));
      const { tenantId, scheduleId } = row;
      return { tenantId, scheduleId, ...move, alarmId: alarmFor(move.nextAt) };
    }),
  );
  if (moves.length > 0) await run(tx, moveAll, valuesOf(moveAll, moves));
  await alarms.set(tx, moves.flatMap(alarmOf));
  return { takenCount: taken.length, nextAt: soonestOf(moves) };
}

/** The alarm of a schedule, if it has a next occurrence. */
function alarmOf({ tenantId, scheduleId, alarmId, nextAt }: AlarmKey & Typed<typeof NEXT>) {
  if (alarmId === null || nextAt === null) return [];
  return [{ alarmId, at: nextAt, tenantId, scheduleId }];
}

const alarmFor = (nextAt: number | null): string | null => (nextAt === null ? null : randomUUID());
/** The values of an edit, with the next occurrence and the alarm for it. */
const editValues = ({ spec, ...edit }: ScheduleEdit, nextAt: number | null) => ({
  ...edit,
  ...spec,
  nextAt,
  alarmId: alarmFor(nextAt),
});

const lock = (tx: Queryable, { tenantId, scheduleId }: AlarmKey) =>
  first(tx, lockOne, { tenantId, scheduleId });

function only(row: StoredSchedule | undefined): StoredSchedule {
  if (row === undefined) throw new Error("invariant broken: a schedule that is locked is gone");
  return row;
}
