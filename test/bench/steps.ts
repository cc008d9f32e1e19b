// Starts and stops the process that executes the benches' steps (`step-executor.ts`).

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { guardChild } from "@pawl/deploy/guard.ts";

/** The node type of a step; only the benches' executor serves it. */
export const STEP = "bench.step";
/** As many as the stack's own executor has. */
export const SLOTS = 1_024;
/** What the process prints once it is registered. */
export const READY = "ready";

const MAIN = fileURLToPath(new URL("./step-executor.ts", import.meta.url));

export interface StepExecutor {
  readonly pid: number;
  stop(): Promise<void>;
}

/** Starts the process and waits until the scheduler has registered it. @throws Error when it ends before that */
export async function startSteps(schedulerAddress: string): Promise<StepExecutor> {
  const child = spawn(process.execPath, [MAIN, schedulerAddress], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  guardChild(child, "TERM");
  const exited = once(child, "exit");
  const ready = Promise.withResolvers<void>();
  createInterface({ input: child.stdout }).on("line", (line) => {
    if (line === READY) ready.resolve();
  });
  const early = exited.then(() => {
    throw new Error("the executor of the steps ended before it was ready");
  });
  await Promise.race([ready.promise, early]);
  early.catch(() => {});
  return {
    pid: child.pid ?? 0,
    async stop() {
      child.kill("SIGTERM");
      await exited;
    },
  };
}
