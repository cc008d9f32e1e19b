// One start per data folder: a file names the process that holds it and the services it runs.
// A file whose process is gone was left by a killed start: services that outlived it are ended first, so that
// their ports and leases are free. Pids may have been given to strangers since, so a process is ours only when
// its command line says so. The file appears and changes whole (written aside, then linked or renamed): a reader
// that met half of it would take a live start for a dead one.
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { commandLine } from "./guard.ts";
import { StartFault } from "./start-fault.ts";

const POLL_MS = 50;

type Note = { readonly pid: number; readonly url: string; readonly services: readonly number[] };

/** The right to run in a data folder. */
export type Instance = {
  /** Keeps the list of service processes for whoever must clean up after us. */
  record(services: readonly number[]): void;
  release(): void;
};

/** @throws StartFault when another start runs in this folder */
export async function claimInstance(dataDir: string, url: string): Promise<Instance> {
  mkdirSync(dataDir, { recursive: true });
  const file = join(dataDir, "instance.json");
  const note = (services: readonly number[]): string =>
    `${JSON.stringify({ pid: process.pid, url, services } satisfies Note)}\n`;
  while (!tryCreate(file, note([]))) await clearLeftover(file);
  return {
    record: (services) => renameSync(writeAside(file, note(services)), file),
    release: () => rmSync(file, { force: true }),
  };
}

function tryCreate(file: string, text: string): boolean {
  let aside: string | undefined;
  try {
    aside = writeAside(file, text);
    linkSync(aside, file);
    return true;
  } catch (error) {
    if (isCode(error, "EEXIST")) return false;
    if (!isCode(error, "EACCES")) throw error;
    const advice = "another account made that folder: remove it, or name another by PAWL_DATA_DIR";
    throw new StartFault(`${file} cannot be written`, advice, { cause: error });
  } finally {
    if (aside !== undefined) rmSync(aside, { force: true });
  }
}

function writeAside(file: string, text: string): string {
  const aside = `${file}.${process.pid}`;
  writeFileSync(aside, text);
  return aside;
}

async function clearLeftover(file: string): Promise<void> {
  const note = readNote(file);
  if (
    note !== undefined &&
    /\b(local|demo)\.ts\b/.test(commandLine(note.pid)) &&
    note.pid !== process.pid
  ) {
    const advice = `stop it with Ctrl-C in its terminal, or with: kill ${note.pid}`;
    throw new StartFault(`Pawl already runs here (process ${note.pid}, ${note.url})`, advice);
  }
  for (const pid of note?.services ?? []) await endService(pid);
  rmSync(file, { force: true });
}

async function endService(pid: number): Promise<void> {
  const isOurs = (): boolean => /services\/\w+\/src\/main\.ts/.test(commandLine(pid));
  // Its lease and its jobs come back by themselves: a crash is nothing a service needs to prepare for.
  if (isOurs()) process.kill(pid, "SIGKILL");
  while (isOurs()) await delay(POLL_MS);
}

function readNote(file: string): Note | undefined {
  try {
    // Written by us; a file the machine's end cut short does not parse and counts as stale.
    return JSON.parse(readFileSync(file, "utf8")) as Note;
  } catch {
    return undefined;
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
