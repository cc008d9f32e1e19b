// One version of the user's handler process. It starts in the user's folder and in its own process group, so that a signal also reaches the
// children of a command such as `npm run` or `go run`. Its output goes to the terminal, line by line.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Lifetime } from "../supervise.ts";
import { guardChild } from "../guard.ts";

/** How long a process may finish its work when `pawl dev` ends. */
const STOP_MS = 60_000;

/** A process that ends in two ways. Both ask it once, by SIGTERM, because a second signal ends an SDK at once. */
export interface HandlerProcess extends Lifetime {
  /** Lets the process finish its work, however long that takes. */
  drain(): Promise<void>;
  /** Lets the process finish its work for a minute, also one that drains already. Then it is killed. */
  stop(): Promise<void>;
  /** Ends the process at once. */
  kill(): void;
}

interface HandlerCommand {
  readonly command: readonly [string, ...string[]];
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly print: (line: string) => void;
}

/** Starts the process. `exited` settles with its end, also if it could not start. */
export function startHandlerProcess({
  command,
  folder,
  env,
  print,
}: HandlerCommand): HandlerProcess {
  const [program, ...args] = command;
  const child = spawn(program, args, {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  guardChild(child, "TERM");
  for (const stream of [child.stdout, child.stderr]) createInterface(stream).on("line", print);
  const exited = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(`it could not start: ${error.message}`));
    child.once("close", (code, name) => resolve(name ?? `exit code ${code}`));
  });
  const signal = (name: NodeJS.Signals): void => {
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, name);
    } catch {
      // The group has ended.
    }
  };
  let isAsked = false;
  const drain = async (): Promise<void> => {
    if (!isAsked) signal("SIGTERM");
    isAsked = true;
    await exited;
  };
  return {
    pid: child.pid ?? 0,
    exited,
    drain,
    kill: () => signal("SIGKILL"),
    stop: async () => {
      const patience = setTimeout(signal, STOP_MS, "SIGKILL");
      await drain();
      clearTimeout(patience);
    },
  };
}
