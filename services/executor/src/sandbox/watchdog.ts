// The limit that user code cannot avoid. While a child is busy, the parent measures its resident memory and its wall time from outside
// every 10 ms, and kills a child over its limit.

import { readFileSync } from "node:fs";
import type { SandboxCause } from "./protocol.ts";
import type { SandboxProcess } from "./sandbox-process.ts";

/** Far above a child's 60 MB at rest plus its 32 MB heap, and far below an amount that harms the host. */
const RSS_BYTES_MAX = 160 * 1024 * 1024;
const POLL_MS = 10;
const PAGE_BYTES = 4_096;

export class Watchdog {
  readonly #children: () => Iterable<SandboxProcess>;
  readonly #onKill: ((cause: string) => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(children: () => Iterable<SandboxProcess>, onKill?: (cause: string) => void) {
    this.#children = children;
    this.#onKill = onKill;
  }

  /** Watches until no child is busy. It is cheap to call before every run. */
  wake(): void {
    this.#timer ??= setInterval(() => this.#look(), POLL_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #look(): void {
    const now = performance.now();
    let busy = false;
    for (const child of this.#children()) {
      if (!child.isBusy) continue;
      busy = true;
      if (child.isDead) continue;
      if (now > child.killAt) this.#kill(child, "js_timeout", "ran past its time limit");
      else if (residentBytes(child.pid) > RSS_BYTES_MAX)
        this.#kill(child, "js_killed", "used too much memory");
    }
    if (!busy) this.stop();
  }

  #kill(child: SandboxProcess, cause: SandboxCause, message: string): void {
    child.kill({ ok: false, cause, message });
    this.#onKill?.(cause);
  }
}

/** Resident bytes of a process. 0 where /proc does not exist (then only the time limit holds). */
export function residentBytes(pid: number | undefined): number {
  if (pid === undefined) return 0;
  try {
    const pages = Number(readFileSync(`/proc/${pid}/statm`, "latin1").split(" ")[1]);
    return Number.isFinite(pages) ? pages * PAGE_BYTES : 0;
  } catch {
    return 0;
  }
}
