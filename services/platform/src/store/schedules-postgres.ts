// Schedules in Postgres, their alarms in pg-boss, both in one transaction. Two creators of one id meet at the primary key, two
// editors at the row lock; who fires never waits for a row (see schedules.ts).

import { randomUUID } from "node:crypto";
import { isContention, isUniqueViolation } from "../db/failure.ts";
import { run, type Queryable } from "../db/sql.ts";
import { withTransaction, type Connectable } from "../db/transaction.ts";
import type { AlarmKey } from "../queue/alarm.ts";
import type { BossAlarms } from "../queue/boss-alarms.ts";
import { type ScheduleRow, toSchedule } from "./schedule-row.ts";
import { deleteSchedule } from "./statements/delete-schedule.ts";
import { editSchedule } from "./statements/edit-schedule.ts";
import { insertSchedule } from "./statements/insert-schedule.ts";
import { lockDueSchedules } from "./statements/lock-due-schedules.ts";
import { lockSchedule } from "./statements/lock-schedule.ts";
import { moveSchedules } from "./statements/move-schedules.ts";
import { pauseSchedule } from "./statements/pause-schedule.ts";
import { readSchedule } from "./statements/read-schedule.ts";
import { resumeSchedule } from "./statements/resume-schedule.ts";
import type {
  DueSchedule,
  Firing,
  SaveScheduleResult,
  ScheduleEdit,
  ScheduleMove,
  ScheduleRecord,
  Schedules,
} from "./schedules.ts";

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
          row.paused_at === null ? await one(tx, pauseSchedule, [...keyOf(key), by, reason]) : row,
        ),
      ),
    resume: (key, nextOf) =>
      change((tx) =>
        writer.turn(tx, key, async (row) => {
          if (row.paused_at === null) return row;
          const next = await nextOf(toSchedule(row).spec);
          return await one(tx, resumeSchedule, [...keyOf(key), next, alarmFor(next)]);
        }),
      ),
    remove: (key) =>
      change(async (tx) => {
        const row = await lock(tx, key);
        if (row === undefined) return false;
        await run(tx, deleteSchedule, [...keyOf(key)]);
        if (row.alarm_id !== null) await alarms.clear(tx, row.alarm_id);
        return true;
      }),
    find: async (key) => {
      const [row] = await run<ScheduleRow>(db, readSchedule, [...keyOf(key)]);
      return row === undefined ? undefined : toSchedule(row);
    },
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
    const alarmId = alarmFor(nextAt);
    const made = await one(tx, insertSchedule, [...columnsOf(edit), nextAt, alarmId]);
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
    const changed = await one(tx, editSchedule, [...columnsOf(edit), next, alarmFor(next)]);
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
    const rows = await run<ScheduleRow & { is_last_run_live: boolean; now_ms: number }>(
      tx,
      lockDueSchedules,
      [
        taken.map(({ tenantId }) => tenantId),
        taken.map(({ scheduleId }) => scheduleId),
        taken.map(({ alarmId }) => alarmId),
      ],
    );
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
    await run(tx, moveSchedules, [
      moves.map(({ row }) => row.tenant_id),
      moves.map(({ row }) => row.schedule_id),
      moves.map(({ move }) => move.nextAt),
      moves.map(({ alarmId }) => alarmId),
      moves.map(({ move }) => move.lastAt),
      moves.map(({ move }) => move.runId),
      moves.map(({ move }) => move.lastError),
      moves.map(({ move }) => move.startedCount),
      moves.map(({ move }) => move.skippedCount),
    ]);
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
const keyOf = ({ tenantId, scheduleId }: AlarmKey): readonly [string, string] => [
  tenantId,
  scheduleId,
];

function columnsOf(edit: ScheduleEdit): unknown[] {
  const { spec, requestId, requestHash } = edit;
  return [
    ...keyOf(edit),
    spec.workflowId,
    spec.workflowVersion,
    spec.expression,
    spec.timeZone,
    spec.input,
    spec.priority,
    spec.missed,
    spec.overlap,
    requestId,
    requestHash,
  ];
}

function repeatOf(
  row: ScheduleRow,
  { requestId, requestHash }: ScheduleEdit,
): SaveScheduleResult | undefined {
  if (requestId === null || row.request_id !== requestId) return undefined;
  return row.request_hash === requestHash ? saved(row) : { kind: "request_reused" };
}

async function lock(tx: Queryable, key: AlarmKey): Promise<ScheduleRow | undefined> {
  const [row] = await run<ScheduleRow>(tx, lockSchedule, [...keyOf(key)]);
  return row;
}

async function one(
  tx: Queryable,
  statement: Parameters<typeof run>[1],
  values: unknown[],
): Promise<ScheduleRow> {
  const [row] = await run<ScheduleRow>(tx, statement, values);
  if (row === undefined) throw new Error("invariant broken: a schedule that is locked is gone");
  return row;
}
