// Alarms: the next occurrence of every schedule waits in pg-boss as a delayed job, which tells whoever looks at the queues when it
// is due and gives it to one scheduler at a time.

/** The queue of alarms; a node type never begins with an underscore. */
export const ALARMS = "_schedules";

/** The schedule an alarm is for. */
export interface AlarmKey {
  readonly tenantId: string;
  readonly scheduleId: string;
}

export interface Alarm extends AlarmKey {
  readonly alarmId: string;
}
