// Ends a PostgreSQL whose parent was killed before it could stop it.
// The pid file may also be stale and its number taken by a stranger since: only a process whose
// command line names this very data folder is signalled; otherwise the file is removed.
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { commandLine } from "./guard.ts";

const FAST_SHUTDOWN_MS = 10_000;
const POLL_MS = 50;

/** Returns when no server runs on this data folder. */
export async function endLeftover(dataDir: string): Promise<void> {
  const pidFile = join(dataDir, "postmaster.pid");
  if (!existsSync(pidFile)) return;
  const pid = Number(readFileSync(pidFile, "utf8").split("\n")[0]);
  const isOurs = (): boolean => Number.isInteger(pid) && commandLine(pid).includes(dataDir);
  if (isOurs()) {
    process.kill(pid, "SIGINT");
    const patience = performance.now() + FAST_SHUTDOWN_MS;
    while (isOurs()) {
      // A session that will not end must not keep the next start waiting; recovery replays the log.
      if (performance.now() > patience) process.kill(pid, "SIGQUIT");
      await delay(POLL_MS);
    }
  }
  rmSync(pidFile, { force: true });
}
