// One start for each data folder: a file names the process that holds the folder, and its services. If that process does not run any more,
// it was killed. The new start then ends its services first, so that their ports and leases are free. A pid may belong to another process
// by now, so the command line decides. The file is written under another name and then linked or renamed. So no reader mistakes a live
// start for a dead one.
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { commandLine } from "./guard.ts";
import { StartFault } from "./leave-with.ts";

const POLL_MS = 50;

type Note = { readonly pid: number; readonly url: string; readonly services: readonly number[] };

type Instance = {
  /** Writes the list of service processes, for the start that cleans up after a kill. */
  record(services: readonly number[]): void;
  release(): void;
};

/** @throws StartFault if another start runs in this folder */
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
  const isLive = note !== undefined && /\b(local|demo)\.ts\b/.test(commandLine(note.pid));
  if (isLive && note.pid !== process.pid) {
    const advice = `stop it with Ctrl-C in its terminal, or with: kill ${note.pid}`;
    throw new StartFault(`Pawl already runs here (process ${note.pid}, ${note.url})`, advice);
  }
  for (const pid of note?.services ?? []) await endService(pid);
  rmSync(file, { force: true });
}

async function endService(pid: number): Promise<void> {
  const isOurs = (): boolean => /services\/\w+\/src\/main\.ts/.test(commandLine(pid));
  // The scheduler takes back the leases of a crashed service.
  if (isOurs()) process.kill(pid, "SIGKILL");
  while (isOurs()) await delay(POLL_MS);
}

function readNote(file: string): Note | undefined {
  try {
    // A start wrote the file. A file that a power failure cut short does not parse and counts as stale.
    return JSON.parse(readFileSync(file, "utf8")) as Note;
  } catch {
    return undefined;
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
