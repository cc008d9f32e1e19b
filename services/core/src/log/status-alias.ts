// Other words for the status of a run, as other engines write them: one table for every filter and every view.

import type { RunStatus, StopMode } from "./event.ts";

/** Other words for a run's status, as other engines write them. */
export const RUN_STATUS_ALIASES: ReadonlyMap<string, RunStatus> = new Map<string, RunStatus>([
  ["success", "completed"],
  ["error", "failed"],
  ["interrupted", "cancelled"],
  ["rollback", "cancelled"],
  ["timed_out", "timeout"],
]);
/** Words for a cancelled run that also say how it was stopped. */
export const STOP_ALIASES: ReadonlyMap<string, StopMode> = new Map<string, StopMode>([
  ["interrupted", "interrupt"],
  ["rollback", "rollback"],
]);
