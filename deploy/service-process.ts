// One service as a real process. It is started from its sources, is ready when it logs so on stdout, and is ended by its pid. It runs in
// its own process group, so that a Ctrl-C in the terminal reaches the launcher first, which then drains the service.
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { guardChild } from "./guard.ts";
import { ROOT } from "./settings.ts";

/**
 * These bound the garbage that V8 keeps: services need 35 MiB, and make much garbage that dies soon. Without the flags a busy scheduler grew
 * to 300 MiB. With half of each it stayed at 150, and spent a fifth of its CPU on collection. With these it stays at 210, and a node costs
 * the three services 12 to 15 % less.
 */
const BUSY = ["--max-semi-space-size=16", "--heap-growing-percent=100"];
const NODE_FLAGS: Readonly<Record<ServiceName, readonly string[]>> = {
  scheduler: BUSY,
  executor: BUSY,
  // Thousands of watchers are objects that live. With the flags above a gateway of 2,000 watchers had 402 MB, with these 374.
  gateway: ["--max-semi-space-size=8", "--heap-growing-percent=40"],
};

const memoryOf = (root: string) => ({
  // Otherwise each worker thread of Node gets its own heap of malloc, which wasted 40 of 250 MiB of a busy scheduler.
  MALLOC_ARENA_MAX: "2",
  // Node strips types and compiles once, not at each start: 0.6 s of CPU and 12 to 20 MiB less for each process. Entries are found by
  // content and flags, so none is stale. The folder is optional.
  NODE_COMPILE_CACHE: join(root, "node_modules/.cache/pawl-compile"),
});

const TAIL_CHARS = 4_000;
/** Longer than the services' own limit. */
const DRAIN_MS = 25_000;
/** The time to read the rest of the output of an ended process. */
const OUTPUT_MS = 500;

export type ServiceName = "scheduler" | "executor" | "gateway";

type ServiceOptions = {
  readonly service: ServiceName;
  /** The checkout whose sources run; this one by default. */
  readonly root?: string | undefined;
  /** The file to run; the sources by default. */
  readonly main?: string | undefined;
  /** Variables besides the few that every process needs. */
  readonly env: Readonly<Record<string, string>>;
  /** Receives the output of the process. */
  readonly log?: (text: string) => void;
};

export type ServiceProcess = {
  readonly pid: number;
  /** The port of its ready line. 0 if it names none. */
  readonly port: number;
  /** Settles with how it ended, after its output was read. */
  readonly exited: Promise<string>;
  kill(signal: NodeJS.Signals): void;
  /** Sends SIGTERM, and SIGKILL when the drain takes too long. */
  stop(): Promise<void>;
};

/** Starts a service and returns when it is ready. @throws Error with the end of its output when it exits first or the signal aborts */
export async function startService(
  options: ServiceOptions,
  signal?: AbortSignal,
): Promise<ServiceProcess> {
  const { root = ROOT, main = `services/${options.service}/src/main.ts` } = options;
  const child = spawn(process.execPath, [...NODE_FLAGS[options.service], main], {
    cwd: root,
    env: { ...memoryOf(root), ...inherited(), ...options.env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  guardChild(child, "TERM");
  const exited = endOf(child);
  const kill = (name: NodeJS.Signals): void => void child.kill(name);
  let tail = "";
  const ready = Promise.withResolvers<number>();
  const keep = (chunk: Buffer): void => {
    const text = chunk.toString();
    tail = (tail + text).slice(-TAIL_CHARS);
    options.log?.(text);
  };
  child.stderr.on("data", keep);
  child.stdout.on("data", keep);
  createInterface(child.stdout).on("line", (line) => readPort(line, ready.resolve));
  const early = exited.then((how) => {
    throw new Error(`${options.service} ended before it was ready (${how}):\n${tail}`);
  });
  const aborted = untilAborted(signal);
  try {
    const port = await Promise.race([ready.promise, early, aborted.promise]);
    early.catch(() => {});
    return { pid: child.pid ?? 0, port, exited, kill, stop: () => stop(kill, exited) };
  } catch (error) {
    kill("SIGKILL");
    throw error;
  } finally {
    aborted.release();
  }
}

/** Settles with how it ended, after its output was read: the last lines may arrive after the end. */
function endOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, name) => {
      const how = name ?? `exit code ${code}`;
      // A child of the process may still hold its output open.
      const patience = setTimeout(resolve, OUTPUT_MS, how);
      child.once("close", () => {
        clearTimeout(patience);
        resolve(how);
      });
    });
  });
}

async function stop(kill: (name: NodeJS.Signals) => void, exited: Promise<string>): Promise<void> {
  kill("SIGTERM");
  const patience = setTimeout(() => kill("SIGKILL"), DRAIN_MS);
  await exited;
  clearTimeout(patience);
}

/** The variables that every process inherits; its configuration comes only from the caller. */
function inherited(): Record<string, string> {
  const names = ["PATH", "HOME", "TMPDIR", "LANG", "TZ", "SystemRoot", "NODE_EXTRA_CA_CERTS"];
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

function readPort(line: string, resolve: (port: number) => void): void {
  if (!line.startsWith("{") || !line.includes('"ready"')) return;
  try {
    // A log line of the service; any other JSON lacks these keys.
    const entry = JSON.parse(line) as { msg?: unknown; port?: unknown };
    if (entry.msg === "ready") resolve(typeof entry.port === "number" ? entry.port : 0);
  } catch {
    // A line cut or mixed with other output is not the ready line.
  }
}

function untilAborted(signal: AbortSignal | undefined): {
  promise: Promise<never>;
  release: () => void;
} {
  const { promise, reject } = Promise.withResolvers<never>();
  promise.catch(() => {});
  const onAbort = (): void => reject(new Error("stopped before it was ready"));
  signal?.addEventListener("abort", onAbort);
  if (signal?.aborted === true) onAbort();
  return { promise, release: () => signal?.removeEventListener("abort", onAbort) };
}
