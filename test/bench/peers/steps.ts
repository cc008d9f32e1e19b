// Steps as a user's own code: handlers in the caller's process, in a TypeScript process of their own, or in a Python process.

import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { defineHandler, startExecutor } from "@pawl/handler";
import { pythonEnvironment } from "@pawl/deploy/python.ts";

interface Steps {
  /** host:port of the scheduler, for handlers in this process. */
  readonly scheduler: string;
  /** host:port of the executor's handler port, for handlers in another process. */
  readonly host: string;
  /** The node type that is served. */
  readonly type: string;
  readonly step: () => Promise<unknown>;
}

/** Where the steps run. */
type Place = "in-process" | "typescript" | "python";

const SLOTS = 1_024;

/** Serves steps; resolves with the function that stops them. */
export async function startSteps(place: Place, steps: Steps): Promise<() => Promise<void>> {
  if (place === "in-process") return await startHere(steps);
  if (place === "typescript")
    return startProcess(process.execPath, [fileOf("step-process.ts")], steps);
  const python = await pythonEnvironment();
  if (python.kind === "missing") throw new Error(python.why);
  return startProcess(python.path, [fileOf("step_process.py")], steps);
}

async function startHere({ scheduler, type, step }: Steps): Promise<() => Promise<void>> {
  const handlers = [defineHandler({ type, run: step })];
  const executor = startExecutor({ scheduler, slots: SLOTS, handlers });
  await executor.ready();
  return () => executor.stop();
}

const fileOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** Starts a process that serves the steps. The first run waits in the queue until it does. */
function startProcess(
  command: string,
  args: readonly string[],
  { host, type }: Steps,
): () => Promise<void> {
  const sdk = fileURLToPath(new URL("../../../clients/python/src", import.meta.url));
  const env = { ...process.env, PAWL_HANDLER_ADDRESS: host, STEP_TYPE: type, PYTHONPATH: sdk };
  const child = spawn(command, args, { env, stdio: ["ignore", "ignore", "inherit"] });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  return async () => {
    child.kill("SIGTERM");
    await ended;
  };
}
