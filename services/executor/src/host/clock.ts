// The clock of sessions as a dependency, so that tests move it by hand.

import { systemTimers, type Timers } from "@pawl/platform/lifecycle/timers";

export interface HostClock extends Timers {
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

export const systemClock: HostClock = { ...systemTimers, now: () => performance.now() };
