// The faults: each strikes trials whose handlers are at their points, and lets every run end.
import { setTimeout as pause } from "node:timers/promises";
import type { Trial } from "./trial.ts";
import { TIMES, type World } from "./world.ts";

const SHORT_CUT_MS = 200;

export type FaultName = "kill" | "stop" | "cut" | "executor";

/** Strikes the trials of one round at once. Settles when the runs have ended and the fault is over. */
type Strike = (world: World, trials: readonly Trial[]) => Promise<void>;

const each =
  (strike: (trial: Trial, at: number) => Promise<void>): Strike =>
  async (_world, trials) => {
    await Promise.all(trials.map(strike));
  };

/** SIGKILL of the handler process. */
const kill = each(async ({ process, ended }) => {
  await process.restart();
  await ended();
});

/** SIGSTOP until the work has run elsewhere and every lease of before is over; then the process continues where it was. */
const stop = each(async ({ process, held, ended, returned }) => {
  process.signal("SIGSTOP");
  try {
    await Promise.all([ended(), pause(TIMES.leaseMs + TIMES.stallMs)]);
  } finally {
    held.release();
    process.signal("SIGCONT");
  }
  await returned();
});

/**
 * By turns a cut that the session survives, in which the function continues, and one after which the work has run elsewhere. Every second
 * long one is dark: no side hears of it, until each has heard nothing for too long.
 */
const cut = each(async ({ process, held, ended, returned }, at) => {
  const isDark = at % 4 === 1;
  if (isDark) process.relay.darken();
  else process.relay.cut();
  try {
    if (at % 2 === 0) {
      held.release();
      await pause(SHORT_CUT_MS);
    } else {
      const longMs = isDark ? TIMES.silenceMs + TIMES.stallMs : TIMES.resumeMs;
      await Promise.all([ended(), pause(longMs)]);
      held.release();
    }
  } finally {
    process.relay.heal();
  }
  await Promise.all([ended(), returned()]);
});

/** SIGKILL of the host with all its sessions. By turns the function continues while no host is there, and after the host is back. */
const executor: Strike = async ({ executor: host }, trials) => {
  await host.kill("SIGKILL");
  trials.forEach(({ held }, at) => at % 2 === 0 && held.release());
  await host.restart();
  for (const { held } of trials) held.release();
  await Promise.all(trials.map(({ ended }) => ended()));
  await Promise.all(trials.map(({ returned }) => returned()));
};

export const STRIKES: Readonly<Record<FaultName, Strike>> = { kill, stop, cut, executor };
export const FAULT_NAMES: readonly FaultName[] = ["kill", "stop", "cut", "executor"];
