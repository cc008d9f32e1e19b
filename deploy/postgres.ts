// A private PostgreSQL for development and tests, run from npm-shipped binaries: no system packages, no install scripts, no new accounts.
// The server is a direct child in its own process group. So a Ctrl-C reaches this process first, and a killed server can be started again.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chownSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { commandLine, guardChild } from "./guard.ts";
import { freePort, LOOPBACK } from "./ports.ts";
import { binary, type Placement, placePostgres } from "./postgres-binaries.ts";

const PASSWORD = "pawl";
const READY_TIMEOUT_MS = 30_000;
const POLL_MS = 25;
const TAIL_CHARS = 4_000;
/** The line that the server prints when it takes connections, as a primary or as a standby. */
const READY = /ready to accept (read-only )?connections/;

type PostgresOptions = {
  /** The folder of the data. It stays between starts, and is created if it is missing. */
  readonly dataDir: string;
  /** A free one when absent. */
  readonly port?: number;
  /** False trades crash safety for speed. Only tests use it. */
  readonly durable?: boolean;
  /** Further `name=value` settings of the server. */
  readonly settings?: readonly string[];
  /** Further variables of its environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Receives the output of the server. */
  readonly log?: (text: string) => void;
};

export type Postgres = {
  readonly port: number;
  readonly pid: number;
  readonly dataDir: string;
  readonly url: string;
  /** Settles with the reason when the server process has ended. */
  readonly exited: Promise<string>;
  /** Sends a signal to the server, e.g. SIGKILL in crash tests. */
  kill(signal: NodeJS.Signals): void;
  /** Fast shutdown: ends sessions, writes a checkpoint, and waits until the process has ended. */
  stop(): Promise<void>;
};

/** Starts a server and returns when it accepts connections. First it ends a server of a killed parent on the same data folder. */
export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  const place = placePostgres(options.dataDir);
  const durable = options.durable ?? true;
  prepareFolder(place);
  if (!existsSync(join(place.dataDir, "PG_VERSION"))) initialise(place, durable);
  await endLeftover(place.dataDir);
  const port = options.port ?? (await freePort());
  const child = launch(place, port, options);
  const exited = new Promise<string>((resolve) => {
    child.once("exit", (code, signal) => resolve(signal ?? `exit code ${code}`));
    child.once("error", (error) => resolve(error.message));
  });
  await untilReady(child, port, options.log);
  const guard = guardChild(child, "INT");
  return {
    port,
    pid: child.pid ?? 0,
    dataDir: place.dataDir,
    url: `postgres://postgres:${PASSWORD}@${LOOPBACK}:${port}/postgres`,
    exited,
    kill: (signal) => void child.kill(signal),
    async stop() {
      child.kill("SIGINT");
      await exited;
      guard.release();
    },
  };
}

function prepareFolder({ dataDir, owner }: Placement): void {
  mkdirSync(dirname(dataDir), { recursive: true });
  if (!existsSync(dataDir)) mkdirSync(dataDir, { mode: 0o700 });
  if (owner.uid !== undefined && owner.gid !== undefined) chownSync(dataDir, owner.uid, owner.gid);
}

function initialise(place: Placement, durable: boolean): void {
  const { dataDir, owner, native } = place;
  const passwordFile = `${dataDir}.password-${process.pid}`;
  writeFileSync(passwordFile, PASSWORD, { mode: 0o600 });
  if (owner.uid !== undefined && owner.gid !== undefined) {
    chownSync(passwordFile, owner.uid, owner.gid);
  }
  const flags = ["-D", dataDir, "-U", "postgres", "-A", "scram-sha-256"];
  flags.push(`--pwfile=${passwordFile}`, "-E", "UTF8", "--locale=C");
  if (!durable) flags.push("--no-sync");
  const made = spawnSync(binary(native, "initdb"), flags, {
    ...owner,
    cwd: native,
    env: { ...process.env, LC_ALL: "C" },
    encoding: "utf8",
  });
  rmSync(passwordFile, { force: true });
  if (made.status !== 0) {
    throw new Error(`initdb failed: ${made.error?.message ?? made.stderr}`);
  }
}

function launch(place: Placement, port: number, options: PostgresOptions): ChildProcess {
  const { durable = true, settings = [], env = {} } = options;
  const unsafe = ["fsync=off", "synchronous_commit=off", "full_page_writes=off"];
  const all = [
    `listen_addresses=${LOOPBACK}`,
    "unix_socket_directories=",
    ...(durable ? [] : unsafe),
    ...settings,
  ];
  const flags = ["-D", place.dataDir, "-p", String(port), ...all.flatMap((one) => ["-c", one])];
  return spawn(binary(place.native, "postgres"), flags, {
    ...place.owner,
    cwd: place.native,
    env: { ...process.env, LC_ALL: "C", ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
}

async function untilReady(
  child: ChildProcess,
  port: number,
  log: ((text: string) => void) | undefined,
): Promise<void> {
  let tail = "";
  let failure: Error | undefined;
  child.once("error", (error) => (failure = error));
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (chunk: Buffer) => {
      tail = (tail + chunk.toString()).slice(-TAIL_CHARS);
      log?.(chunk.toString());
    });
  }
  const until = performance.now() + READY_TIMEOUT_MS;
  while (!(READY.test(tail) && (await answers(port)))) {
    if (failure !== undefined || child.exitCode !== null || child.signalCode !== null) {
      throw new Error(`PostgreSQL did not start:\n${failure?.message ?? tail}`);
    }
    if (performance.now() > until) {
      child.kill("SIGQUIT");
      throw new Error(`PostgreSQL was not ready after ${READY_TIMEOUT_MS} ms:\n${tail}`);
    }
    await delay(POLL_MS);
  }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, LOOPBACK, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

const FAST_SHUTDOWN_MS = 10_000;

/**
 * Returns when no server runs on this data folder. The pid file may be stale, and its number may belong to another process by now. So only
 * a process whose command line names this data folder gets a signal.
 */
async function endLeftover(dataDir: string): Promise<void> {
  const pidFile = join(dataDir, "postmaster.pid");
  if (!existsSync(pidFile)) return;
  const pid = Number(readFileSync(pidFile, "utf8").split("\n")[0]);
  const isOurs = (): boolean => Number.isInteger(pid) && commandLine(pid).includes(dataDir);
  if (isOurs()) {
    process.kill(pid, "SIGINT");
    const patience = performance.now() + FAST_SHUTDOWN_MS;
    while (isOurs()) {
      // A session that does not end must not delay the next start: recovery replays the log.
      if (performance.now() > patience) process.kill(pid, "SIGQUIT");
      await delay(POLL_MS);
    }
  }
  rmSync(pidFile, { force: true });
}
