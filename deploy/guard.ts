// Ends a child when this process dies without a word (SIGKILL, a crash): the guard is a shell that waits
// on a pipe only we hold open. The system closes the pipe with us, and the guard signals the child.
import { spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";

// Nothing is ever written: the read ends when the pipe does.
const SCRIPT = 'read -r _; kill -s "$2" "$1" 2>/dev/null';

/** Watches over one child. */
export type Guard = { readonly release: () => void };

/** Sends `signal` to the child should this process vanish. Ends by itself with the child. */
export function guardChild(child: ChildProcess, signal: "INT" | "TERM"): Guard {
  if (process.platform === "win32" || child.pid === undefined) return { release: () => {} };
  const guard = spawn("/bin/sh", ["-c", SCRIPT, "guard", String(child.pid), signal], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
    cwd: "/",
  });
  guard.on("error", () => {});
  guard.stdin.on("error", () => {});
  // The pipe must not keep this process alive.
  guard.unref();
  if ("unref" in guard.stdin && typeof guard.stdin.unref === "function") guard.stdin.unref();
  // A freed pid may belong to a stranger later, so the guard never outlives the child.
  const release = (): void => {
    guard.kill("SIGKILL");
    guard.stdin.destroy();
  };
  child.once("exit", release);
  return { release };
}

/** The command line of a process, empty when there is none. */
export function commandLine(pid: number): string {
  try {
    if (process.platform === "linux") {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
    }
    return spawnSync("ps", ["-o", "command=", "-p", String(pid)], {
      encoding: "utf8",
    }).stdout.trim();
  } catch {
    return "";
  }
}
