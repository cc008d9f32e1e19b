// One service as a real process: started from its sources, ready when it says so on stdout, ended by pid.
// It runs in its own process group, so that a Ctrl-C in the terminal reaches the one who drains it first.
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { guardChild } from "./guard.ts";

/**
 * isolated-vm cannot live beside Node's startup snapshot. The other two bound what V8 lets lie around: services make much garbage
 * that dies young or soon after, and live on 35 MiB. A busy scheduler grew to 300 MiB without them. With half of each it stayed at
 * 150, and a fifth of its CPU went into collecting; with these it stays at 210, and a node costs the three services 12 to 15 % less.
 */
const NODE_FLAGS = ["--no-node-snapshot", "--max-semi-space-size=16", "--heap-growing-percent=100"];

const ROOT = fileURLToPath(new URL("..", import.meta.url));

const memoryOf = (root: string) => ({
  // Node's worker threads otherwise get a heap of malloc each, which kept 40 MiB of a busy scheduler's 250 for nothing.
  MALLOC_ARENA_MAX: "2",
  // Sources are stripped of their types and compiled once, not at each start: 0.6 s of CPU and 12 to 20 MiB less a process, most
  // of it the stripper itself. Entries are found by content and by flags, so none is ever wrong; without the folder all works too.
  NODE_COMPILE_CACHE: join(root, "node_modules/.cache/pawl-compile"),
});

const TAIL_CHARS = 4_000;
/** Longer than the services give themselves. */
const DRAIN_MS = 25_000;
/** How long what an ended process printed may take to be read. */
const OUTPUT_MS = 500;

/** The three services. */
export type ServiceName = "scheduler" | "executor" | "gateway";

/** What to start and how. */
export type ServiceOptions = {
  readonly service: ServiceName;
  /** The checkout whose sources run; this one by default. */
  readonly root?: string | undefined;
  /** Added to the few variables every process needs. */
  readonly env: Readonly<Record<string, string>>;
  /** Receives what the process prints on stdout and stderr. */
  readonly log?: (text: string) => void;
};

/** A started process. */
export type ServiceProcess = {
  readonly pid: number;
  /** The port of its ready line, 0 when it names none. */
  readonly port: number;
  /** Settles with how it ended, when all it printed has been read. */
  readonly exited: Promise<string>;
  kill(signal: NodeJS.Signals): void;
  /** SIGTERM, and SIGKILL should the drain take too long. */
  stop(): Promise<void>;
};

/**
 * Starts a service and returns when it is ready.
 * @throws Error with the end of its output when it exits before that or the signal aborts.
 */
export async function startService(
  options: ServiceOptions,
  signal?: AbortSignal,
): Promise<ServiceProcess> {
  const { root = ROOT } = options;
  const main = `services/${options.service}/src/main.ts`;
  const child = spawn(process.execPath, [...NODE_FLAGS, main], {
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
  child.stdout.on(
    "data",
    lineReader((line) => readPort(line, ready.resolve)),
  );
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

/** Settles with how it ended, once what it printed has been read: its last words may arrive behind its end. */
function endOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, name) => {
      const how = name ?? `exit code ${code}`;
      // Somebody else may have been handed its output, and live on.
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

/** What a process needs from ours to run at all; configuration is only what the caller gives. */
function inherited(): Record<string, string> {
  const names = ["PATH", "HOME", "TMPDIR", "LANG", "TZ", "SystemRoot", "NODE_EXTRA_CA_CERTS"];
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

function lineReader(onLine: (line: string) => void): (chunk: Buffer) => void {
  let rest = "";
  return (chunk) => {
    const lines = (rest + chunk.toString()).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) onLine(line);
  };
}

function readPort(line: string, resolve: (port: number) => void): void {
  if (!line.startsWith("{") || !line.includes('"ready"')) return;
  try {
    // A log line of ours; any other JSON simply lacks these keys.
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
