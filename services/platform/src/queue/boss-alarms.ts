// Alarms as pg-boss jobs. Every call joins the transaction of the connection it is given: an alarm that was taken comes back when
// that transaction fails or its process dies, and nobody else sees it meanwhile.

import type { PgBoss } from "pg-boss";
import type { Queryable } from "../db/sql.ts";
import { ALARMS, type Alarm } from "./alarm.ts";
import { queueName } from "./queue-name.ts";

interface AlarmData {
  readonly t: string;
  readonly s: string;
}

const QUEUE = queueName(ALARMS);

const joining = (tx: Queryable) => ({
  db: {
    executeSql: (text: string, values?: unknown[]) => tx.query({ text, values: values ?? [] }),
  },
});

export class BossAlarms {
  readonly #boss: PgBoss;

  constructor(boss: PgBoss) {
    this.#boss = boss;
  }

  /** Sets alarms, each for a time in milliseconds since the epoch. */
  async set(tx: Queryable, alarms: readonly (Alarm & { readonly at: number })[]): Promise<void> {
    if (alarms.length === 0) return;
    const jobs = alarms.map(({ alarmId, at, tenantId, scheduleId }) => ({
      id: alarmId,
      data: { t: tenantId, s: scheduleId } satisfies AlarmData,
      startAfter: new Date(at),
    }));
    await this.#boss.insert(QUEUE, jobs, { ...joining(tx), returnId: false });
  }

  /** Takes alarms that are due out, for good once the transaction commits. */
  async take(tx: Queryable, count: number): Promise<Alarm[]> {
    const options = joining(tx);
    const jobs = await this.#boss.fetch<AlarmData>(QUEUE, { batchSize: count, ...options });
    if (jobs.length === 0) return [];
    await this.#boss.deleteJob(QUEUE, jobs, options);
    return jobs.map(({ id, data: { t, s } }) => ({ alarmId: id, tenantId: t, scheduleId: s }));
  }

  /** Removes an alarm that has not been taken. */
  async clear(tx: Queryable, alarmId: string): Promise<void> {
    await this.#boss.deleteJob(QUEUE, alarmId, joining(tx));
  }
}
