// A private PostgreSQL for development and tests, run from npm-shipped binaries: no system packages,
// no install scripts, no new accounts. The server is our direct child in its own process group, so a
// Ctrl-C reaches us first and a killed server is reaped at once and can be started again.
import { spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { chownSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { guardChild } from "./guard.ts";
import { freePort, LOOPBACK } from "./ports.ts";
import { binary, placePostgres } from "./postgres-binaries.ts";
import type { Placement } from "./postgres-binaries.ts";
import { endLeftover } from "./postgres-leftover.ts";

const PASSWORD = "pawl";
const READY_TIMEOUT_MS = 30_000;
const POLL_MS = 25;
const TAIL_CHARS = 4_000;
/** What the server prints when it takes connections, as a primary or as a standby. */
const READY = /ready to accept (read-only )?connections/;

/** What a caller may choose. */
export type PostgresOptions = {
  /** Kept between starts; created when missing. */
  readonly dataDir: string;
  /** A free one when absent. */
  readonly port?: number;
  /** False trades crash safety for speed: tests only. */
  readonly durable?: boolean;
  /** Further `name=value` settings of the server. */
  readonly settings?: readonly string[];
  /** Further variables of its environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Receives what the server prints. */
  readonly log?: (text: string) => void;
};

/** A running server. */
export type Postgres = {
  readonly port: number;
  readonly pid: number;
  readonly dataDir: string;
  readonly url: string;
  /** Settles when the server process is gone, for whatever reason. */
  readonly exited: Promise<string>;
  /** Sends a signal to the server, e.g. SIGKILL in crash tests. */
  kill(signal: NodeJS.Signals): void;
  /** Fast shutdown: ends sessions, writes a checkpoint, waits until the process is gone. */
  stop(): Promise<void>;
};

/**
 * Starts a server and returns when it takes connections. A server left behind on the same data folder
 * by a killed parent is ended first.
 */
export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  const place = placePostgres(options.dataDir);
  const durable = options.durable ?? true;
  prepareFolder(place);
  if (!existsSync(join(place.dataDir, "PG_VERSION"))) initialise(place, durable);
  await endLeftover(place.dataDir);
  const port = options.port ?? (await freePort());
  const { settings = [], env = {} } = options;
  const child = launch({ place, port, durable, settings, env });
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

type Launch = {
  readonly place: Placement;
  readonly port: number;
  readonly durable: boolean;
  readonly settings: readonly string[];
  readonly env: Readonly<Record<string, string>>;
};

function launch({ place, port, durable, settings, env }: Launch): ChildProcess {
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
