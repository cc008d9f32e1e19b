// Time that only ever passes: milliseconds since some moment, for measuring how long something takes or waits. The wall clock is no
// good for that, since an operator or NTP may set it; the monotonic clock is, but on Linux it stands still while the machine is
// suspended. So this is the monotonic clock plus the time for which the machine slept.
//
// A jump between wall and monotonic clock means one of the two: the machine slept, or somebody set the wall clock. The uptime of the
// machine decides: it counts sleep and does not know the wall clock. Elsewhere than on Linux the monotonic clock counts sleep by itself.

import { uptime } from "node:os";

export interface TimeSources {
  /** Milliseconds; never steps, and may stand still while the machine sleeps. */
  readonly monotonic: () => number;
  /** Milliseconds; steps when it is set. */
  readonly wall: () => number;
  /** Milliseconds since the machine started, sleep included; undefined where nothing counts so. */
  readonly uptime: (() => number) | undefined;
}

/** Smaller jumps are left alone: a short sleep does no harm, and clocks are slewed all the time. */
const JUMP_MS = 1_000;

/** A reading of the sources that only ever grows. */
export function steadyTime({ monotonic, wall, uptime: sinceBoot }: TimeSources): () => number {
  let sleptMs = 0;
  let wallGap = wall() - monotonic();
  let bootGap = (sinceBoot?.() ?? 0) - monotonic();
  return () => {
    const at = monotonic();
    const gap = wall() - at;
    if (Math.abs(gap - wallGap) > JUMP_MS && sinceBoot !== undefined) {
      wallGap = gap;
      const boot = sinceBoot() - at;
      if (boot - bootGap > JUMP_MS / 2) {
        sleptMs += boot - bootGap;
        bootGap = boot;
      }
    }
    return at + sleptMs;
  };
}

/** Time of this process. */
export const steadyNow: () => number = steadyTime({
  monotonic: () => performance.now(),
  wall: () => Date.now(),
  uptime: process.platform === "linux" ? () => uptime() * 1_000 : undefined,
});
