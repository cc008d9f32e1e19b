// Alarms as pg-boss jobs. If the transaction that takes an alarm fails or its process dies, the alarm is in the queue again. Until then no
// other scheduler gets it.

import type { PgBoss } from "pg-boss";
import type { Queryable } from "../db/query.ts";
import { ALARMS, type Alarm, type Alarms } from "./alarm.ts";
import { joining } from "./boss-query.ts";
import { queueName } from "./queue.ts";

interface AlarmData {
  readonly t: string;
  readonly s: string;
}

const QUEUE = queueName(ALARMS);

export class BossAlarms implements Alarms {
  readonly #boss: PgBoss;

  constructor(boss: PgBoss) {
    this.#boss = boss;
  }

  async set(tx: Queryable, alarms: readonly (Alarm & { readonly at: number })[]): Promise<void> {
    if (alarms.length === 0) return;
    const jobs = alarms.map(({ alarmId, at, tenantId, scheduleId }) => ({
      id: alarmId,
      data: { t: tenantId, s: scheduleId } satisfies AlarmData,
      startAfter: new Date(at),
    }));
    await this.#boss.insert(QUEUE, jobs, { ...joining(tx), returnId: false });
  }

  async take(tx: Queryable, count: number): Promise<Alarm[]> {
    const options = joining(tx);
    const jobs = await this.#boss.fetch<AlarmData>(QUEUE, { batchSize: count, ...options });
    if (jobs.length === 0) return [];
    await this.#boss.deleteJob(QUEUE, jobs, options);
    return jobs.map(({ id, data: { t, s } }) => ({ alarmId: id, tenantId: t, scheduleId: s }));
  }

  async clear(tx: Queryable, alarmId: string): Promise<void> {
    await this.#boss.deleteJob(QUEUE, alarmId, joining(tx));
  }
}
