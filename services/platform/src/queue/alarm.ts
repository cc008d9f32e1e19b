// Alarms: the next occurrence of every schedule waits in pg-boss as a delayed job. So the survey of the queues shows when it is due, and
// one scheduler at a time gets it.

import type { Queryable } from "../db/query.ts";

/** The queue of alarms. A node type never begins with an underscore. */
export const ALARMS = "_schedules";

/** The schedule of an alarm. */
export interface AlarmKey {
  readonly tenantId: string;
  readonly scheduleId: string;
}

export interface Alarm extends AlarmKey {
  readonly alarmId: string;
}

/** The alarms of all schedules. Every call joins the transaction of its connection. */
export interface Alarms {
  /** Sets alarms, each for a time in milliseconds since the epoch. */
  set(tx: Queryable, alarms: readonly (Alarm & { readonly at: number })[]): Promise<void>;
  /** Takes alarms that are due out of the queue. */
  take(tx: Queryable, count: number): Promise<Alarm[]>;
  /** Removes an alarm that has not been taken. */
  clear(tx: Queryable, alarmId: string): Promise<void>;
}
