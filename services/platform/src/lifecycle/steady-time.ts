// Time that never steps, in milliseconds since some moment. It measures durations and waits. An operator or NTP may set the wall clock, so
// it cannot measure them. The monotonic clock can, but on Linux it stops while the machine is suspended. So steady time is the monotonic
// clock plus the time for which the machine slept.
//
// A jump between wall and monotonic clock has one of two causes: the machine slept, or the wall clock was set. The machine's uptime
// decides, because it counts sleep and ignores the wall clock. On other systems than Linux the monotonic clock counts sleep itself.

import { uptime } from "node:os";

interface TimeSources {
  /** Milliseconds. This clock never steps, and may stop while the machine sleeps. */
  readonly monotonic: () => number;
  /** Milliseconds. This clock steps when an operator or NTP sets it. */
  readonly wall: () => number;
  /** Milliseconds since the machine started, with sleep. Undefined if the system does not count that. */
  readonly uptime: (() => number) | undefined;
}

/** Smaller jumps are ignored: a short sleep is harmless, and NTP slews clocks all the time. */
const JUMP_MS = 1_000;

/** Makes a reading of the sources that never decreases. */
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

/** The steady time of this process. */
export const steadyNow: () => number = steadyTime({
  monotonic: () => performance.now(),
  wall: () => Date.now(),
  uptime: process.platform === "linux" ? () => uptime() * 1_000 : undefined,
});
