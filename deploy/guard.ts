// Ends a child when this process dies by SIGKILL or a crash. The guard is a shell that reads from a pipe that only this process holds open.
// The system closes the pipe with this process, and the guard signals the child.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

// This process never writes to the pipe: the read ends when the pipe closes.
const SCRIPT = 'read -r _; kill -s "$2" "$1" 2>/dev/null';

/** Sends `signal` to the child if this process dies. The guard ends with the child. */
export function guardChild(child: ChildProcess, signal: "INT" | "TERM") {
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
  // The pid of an ended child may belong to another process later, so the guard never outlives the child.
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
