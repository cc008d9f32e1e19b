// Writes schedules in Postgres and their alarms in pg-boss, both in one transaction. Two creators of one id meet at the primary key,
// two editors at the row lock; a firing never waits for a row (schedules.ts).

import { randomUUID } from "node:crypto";
import { flag, list, number, orNull, text, uuid } from "../../db/columns.ts";
import { isContention, isUniqueViolation } from "../../db/failure.ts";
import { columns, queriesBeside, run } from "../../db/query.ts";
import type { Queryable } from "../../db/sql.ts";
import { type Connectable, withTransaction } from "../../db/transaction.ts";
import type { AlarmKey } from "../../queue/alarm.ts";
import type { BossAlarms } from "../../queue/boss-alarms.ts";
import { getSchedule, SCHEDULE, type ScheduleRow, toSchedule } from "./reads.ts";
import type {
  DueSchedule,
  Firing,
  SaveScheduleResult,
  ScheduleEdit,
  ScheduleMove,
  ScheduleRecord,
  Schedules,
} from "./schedules.ts";

const declare = queriesBeside(import.meta.url);

const KEY = { tenantId: text(), scheduleId: text() };
const NEXT = { nextAt: orNull(number()), alarmId: orNull(uuid()) };
const EDIT = {
  ...KEY,
  ...NEXT,
  workflowId: text(),
  workflowVersion: number(),
  expression: text(),
  timeZone: text(),
  input: text(),
  priority: number(),
  missed: text(),
  overlap: text(),
  requestId: orNull(text()),
  requestHash: orNull(text()),
};
const lockOne = declare("lock", KEY, SCHEDULE);
const lockDue = declare(
  "lock_due",
  { tenantId: list(text()), scheduleId: list(text()), alarmId: list(uuid()) },
  { ...SCHEDULE, is_last_run_live: flag(), now_ms: number() },
);
const insert = declare("insert", EDIT, SCHEDULE);
const replace = declare("edit", EDIT, SCHEDULE);
const pause = declare("pause", { ...KEY, by: text(), reason: text() }, SCHEDULE);
const resume = declare("resume", { ...KEY, ...NEXT }, SCHEDULE);
const moveAll = declare("move", {
  tenantId: list(text()),
  scheduleId: list(text()),
  nextAt: list(orNull(number())),
  alarmId: list(orNull(uuid())),
  lastAt: list(number()),
  runId: list(orNull(uuid())),
  lastError: list(text()),
  startedCount: list(number()),
  skippedCount: list(number()),
});
const remove = declare("delete", KEY);

const mayRetry = (error: unknown): boolean => isContention(error) || isUniqueViolation(error);
const NOTHING_DUE: Firing = { takenCount: 0, nextAt: null };

/** Schedules over a pool that hands out connections. */
export function createSchedules(db: Queryable & Connectable, alarms: BossAlarms): Schedules {
  const writer = new Writer(alarms);
  const change = <T>(work: (tx: Queryable) => Promise<T>): Promise<T> =>
    withTransaction(db, work, { mayRetry });
  return {
    create: async (edit, nextOf) => {
      const nextAt = await nextOf(edit.spec);
      return await change((tx) => writer.create(tx, edit, nextAt));
    },
    update: async (edit, nextOf, expectedVersion) => {
      const nextAt = await nextOf(edit.spec);
      return await change((tx) => writer.update(tx, edit, { nextAt, expectedVersion }));
    },
    pause: (key, { by, reason }) =>
      change((tx) =>
        writer.turn(tx, key, async (row) =>
          row.paused_at === null ? only(await run(tx, pause, { ...key, by, reason })) : row,
        ),
      ),
    resume: (key, nextOf) =>
      change((tx) =>
        writer.turn(tx, key, async (row) => {
          if (row.paused_at === null) return row;
          const nextAt = await nextOf(toSchedule(row).spec);
          return only(await run(tx, resume, { ...key, nextAt, alarmId: alarmFor(nextAt) }));
        }),
      ),
    remove: (key) =>
      change(async (tx) => {
        const row = await lock(tx, key);
        if (row === undefined) return false;
        await run(tx, remove, key);
        if (row.alarm_id !== null) await alarms.clear(tx, row.alarm_id);
        return true;
      }),
    find: ({ tenantId, scheduleId }) => getSchedule(db, tenantId, scheduleId),
    fire: (limit, judge) =>
      withTransaction(db, (tx) => writer.fire(tx, limit, judge), { mayRetry: isContention }),
  };
}

class Writer {
  readonly #alarms: BossAlarms;

  constructor(alarms: BossAlarms) {
    this.#alarms = alarms;
  }

  async create(
    tx: Queryable,
    edit: ScheduleEdit,
    nextAt: number | null,
  ): Promise<SaveScheduleResult> {
    const row = await lock(tx, edit);
    if (row !== undefined) return repeatOf(row, edit) ?? { kind: "exists" };
    const made = only(await run(tx, insert, valuesOf(edit, nextAt)));
    await this.#ring(tx, undefined, made);
    return saved(made);
  }

  async update(
    tx: Queryable,
    edit: ScheduleEdit,
    { nextAt, expectedVersion }: { nextAt: number | null; expectedVersion: number },
  ): Promise<SaveScheduleResult> {
    const row = await lock(tx, edit);
    if (row === undefined) return { kind: "missing" };
    const repeated = repeatOf(row, edit);
    if (repeated !== undefined) return repeated;
    if (expectedVersion !== 0 && expectedVersion !== row.version)
      return { kind: "version_mismatch", currentVersion: row.version };
    const { expression, timeZone } = edit.spec;
    const stays = expression === row.expression && timeZone === row.time_zone;
    const kept = stays ? (row.next_at?.getTime() ?? null) : nextAt;
    const next = row.paused_at === null ? kept : null;
    const changed = only(await run(tx, replace, valuesOf(edit, next)));
    await this.#ring(tx, row, changed);
    return saved(changed);
  }

  /** Changes a schedule by `change`, and its alarm with it. */
  async turn(
    tx: Queryable,
    key: AlarmKey,
    change: (row: ScheduleRow) => Promise<ScheduleRow>,
  ): Promise<ScheduleRecord | undefined> {
    const row = await lock(tx, key);
    if (row === undefined) return undefined;
    const changed = await change(row);
    await this.#ring(tx, row, changed);
    return toSchedule(changed);
  }

  async fire(
    tx: Queryable,
    limit: number,
    judge: (schedule: DueSchedule, now: number) => Promise<ScheduleMove>,
  ): Promise<Firing> {
    const taken = await this.#alarms.take(tx, limit);
    if (taken.length === 0) return NOTHING_DUE;
    const rows = await run(tx, lockDue, columns(taken, ["tenantId", "scheduleId", "alarmId"]));
    const moves = await Promise.all(
      rows.map(async (row) => {
        const schedule = toSchedule(row);
        const nextAt = schedule.nextAt ?? row.now_ms;
        const due = { ...schedule, nextAt, isLastRunLive: row.is_last_run_live };
        const move = await judge(due, Math.trunc(row.now_ms));
        return { row, move, alarmId: alarmFor(move.nextAt) };
      }),
    );
    await this.#move(tx, moves);
    const nexts = moves.flatMap(({ move }) => move.nextAt ?? []);
    return { takenCount: taken.length, nextAt: nexts.length === 0 ? null : Math.min(...nexts) };
  }

  async #move(
    tx: Queryable,
    moves: readonly { row: ScheduleRow; move: ScheduleMove; alarmId: string | null }[],
  ): Promise<void> {
    if (moves.length === 0) return;
    const moved = moves.map((each) => each.move);
    await run(tx, moveAll, {
      ...columns(moved, ["nextAt", "lastAt", "runId", "lastError", "startedCount", "skippedCount"]),
      ...columns(moves, ["alarmId"]),
      tenantId: moves.map(({ row }) => row.tenant_id),
      scheduleId: moves.map(({ row }) => row.schedule_id),
    });
    const alarms = moves.flatMap(({ row, move: { nextAt }, alarmId }) =>
      nextAt === null || alarmId === null
        ? []
        : [{ alarmId, at: nextAt, tenantId: row.tenant_id, scheduleId: row.schedule_id }],
    );
    await this.#alarms.set(tx, alarms);
  }

  /** Puts the alarm of a changed row in the place of the one it had. */
  async #ring(tx: Queryable, before: ScheduleRow | undefined, after: ScheduleRow): Promise<void> {
    const old = before?.alarm_id ?? null;
    if (old === after.alarm_id) return;
    if (old !== null) await this.#alarms.clear(tx, old);
    if (after.alarm_id === null || after.next_at === null) return;
    const { alarm_id: alarmId, tenant_id: tenantId, schedule_id: scheduleId } = after;
    await this.#alarms.set(tx, [{ alarmId, at: after.next_at.getTime(), tenantId, scheduleId }]);
  }
}

const alarmFor = (nextAt: number | null): string | null => (nextAt === null ? null : randomUUID());
const saved = (row: ScheduleRow): SaveScheduleResult => ({
  kind: "saved",
  schedule: toSchedule(row),
});
/** The values of an edit, with the next occurrence and the alarm for it. */
const valuesOf = (edit: ScheduleEdit, nextAt: number | null) => {
  const { tenantId, scheduleId, spec, requestId, requestHash } = edit;
  const alarmId = alarmFor(nextAt);
  return { tenantId, scheduleId, ...spec, requestId, requestHash, nextAt, alarmId };
};

function repeatOf(
  row: ScheduleRow,
  { requestId, requestHash }: ScheduleEdit,
): SaveScheduleResult | undefined {
  if (requestId === null || row.request_id !== requestId) return undefined;
  return row.request_hash === requestHash ? saved(row) : { kind: "request_reused" };
}

async function lock(tx: Queryable, { tenantId, scheduleId }: AlarmKey) {
  const [row] = await run(tx, lockOne, { tenantId, scheduleId });
  return row;
}

function only([row]: readonly ScheduleRow[]): ScheduleRow {
  if (row === undefined) throw new Error("invariant broken: a schedule that is locked is gone");
  return row;
}
