// F18: a rolling restart, one service after the other, under load. No client notices.
import { setTimeout as pause } from "node:timers/promises";
import type { Fault } from "../fault.ts";

/** A new process takes work before the next one goes. */
const SETTLE_MS = 500;

export const rollingRestart: Fault = {
  id: "F18",
  title: "rolling restart by SIGTERM",
  hits: { short: 3, smoke: 6, full: 36 },
  gapMs: [100, 300],
  strike: async ({ cluster }, nth) => {
    const target = cluster.all[nth % cluster.all.length];
    if (target === undefined) throw new Error("nobody to restart");
    const at = Date.now();
    await target.stop();
    const end = await target.exited();
    await target.restart();
    const overAt = Date.now();
    await pause(SETTLE_MS);
    return { target: target.name, detail: end, isObserved: end === "exit code 0", at, overAt };
  },
  rules: ({ recovered, retries, rawDuplicates }) => {
    const { released: _, ...lost } = recovered;
    const count = Object.values(lost).reduce((sum, each) => sum + each, 0);
    return [
      ...(count === 0 ? [] : [`${count} claims were lost by a graceful stop`]),
      ...(retries === 0 ? [] : [`${retries} attempts were spent by a graceful stop`]),
      ...(rawDuplicates === 0 ? [] : [`${rawDuplicates} effects were done again`]),
    ];
  },
};
