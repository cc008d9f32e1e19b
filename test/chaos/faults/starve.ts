// F20: more CPU burners than cores run beside the services.
import { spawn, type ChildProcess } from "node:child_process";
import { availableParallelism } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { guardChild } from "@pawl/deploy/guard.ts";
import type { Fault, Size } from "../fault.ts";

const BURNERS_PER_CORE = 3;
const NICENESS = 2;
const BURN_MS: Readonly<Record<Size, number>> = { short: 2_000, smoke: 6_000, full: 30_000 };
/** The share of all claims that schedulers may take back from live executors. */
const FALSE_SHARE = 0.01;

export const starvedCpu: Fault = {
  id: "F20",
  title: "CPU starvation",
  hits: { short: 1, smoke: 1, full: 3 },
  gapMs: [500, 1_000],
  strike: async ({ size }) => {
    const at = Date.now();
    const burners = Array.from({ length: BURNERS_PER_CORE * availableParallelism() }, burner);
    await pause(BURN_MS[size]);
    for (const child of burners) child.kill("SIGKILL");
    const detail = `${burners.length} burners`;
    return { target: "cpu", detail, isObserved: burners.length > 0, at, overAt: Date.now() };
  },
  rules: ({ claims, recovered }) => {
    const count = Object.values(recovered).reduce((sum, each) => sum + each, 0);
    if (count <= Math.max(1, FALSE_SHARE * claims)) return [];
    return [`${count} of ${claims} claims were taken from living executors`];
  },
};

function burner(): ChildProcess {
  const child = spawn("nice", ["-n", String(NICENESS), process.execPath, "-e", "for (;;) {}"], {
    stdio: "ignore",
    detached: true,
  });
  guardChild(child, "TERM");
  return child;
}
