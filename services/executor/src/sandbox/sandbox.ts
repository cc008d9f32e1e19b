// Runs user code in a pool of watched child processes. Each child runs one request at a time in a fresh isolate. The pool replaces a child
// after a kill, a crash or its 200th run. Tasks beyond the pool's size wait for their turn (turns.ts). The wait does not count against the
// code's time limit.
//
// Race: one workflow holds every child with code that never ends. A workflow that holds no child then gets one beyond the pool's size. So
// it waits for a process to start, and not for the time limits of the other workflow.

import { availableParallelism } from "node:os";
import { EngineError } from "@pawl/core/fault/engine-error";
import { LIMITS } from "@pawl/core/data/limits";
import { probe } from "@pawl/platform/lifecycle/probe";
import { sandboxCommands, type SandboxCommand } from "./layers.ts";
import { SandboxProcess } from "./sandbox-process.ts";
import type { SandboxResult } from "./protocol.ts";
import { Turns } from "./turns.ts";
import { Watchdog } from "./watchdog.ts";

const RUNS_MAX = 200;
/** Children beyond the pool's size, for workflows that hold none. */
const SPARE = 1;
const RUN_LIMITS = {
  memoryMb: 32,
  resultBytesMax: LIMITS.storedBytes,
  logBytesMax: LIMITS.logMessageBytes,
};
/** How long after the code's own limit the watchdog kills the child. */
const KILL_GRACE_MS = 500;

interface SandboxOptions {
  /** The largest number of children. The number of cores by default. */
  readonly processesMax?: number;
  /** Slower, but without generated machine code. It is for untrusted tenants. */
  readonly interpreted?: boolean;
  /** Called with the layers of isolation that the host allows. */
  readonly onLayers?: (name: string) => void;
  /** Called for every child that the watchdog killed. */
  readonly onKill?: (cause: string) => void;
}

/** User code to run. `ctx` and `input` must be JSON-like. */
export interface SandboxTask {
  readonly code: string;
  readonly ctx: unknown;
  readonly input: unknown;
  readonly timeoutMs: number;
  /** The workflow that the task counts for. Children are divided evenly between shares. */
  readonly share?: string;
  readonly signal: AbortSignal;
  readonly onLog?: (level: string, message: string) => void;
}

export class Sandbox {
  readonly #options: SandboxOptions;
  readonly #max: number;
  readonly #children = new Set<SandboxProcess>();
  readonly #idle: SandboxProcess[] = [];
  readonly #turns = new Turns<PromiseWithResolvers<SandboxProcess>>();
  readonly #watchdog: Watchdog;
  #commands: readonly SandboxCommand[];
  #found: Promise<void> | undefined;
  #starting = 0;
  #nextId = 1;
  #isStopped = false;

  constructor(options: SandboxOptions = {}) {
    this.#options = options;
    this.#max = options.processesMax ?? availableParallelism();
    this.#watchdog = new Watchdog(() => this.#children, options.onKill);
    const isRoot = process.getuid?.() === 0;
    this.#commands = sandboxCommands({ isRoot, interpreted: options.interpreted ?? false });
  }

  /** Starts one child early, so that the first node does not wait for a process; returns its layers. */
  async start(): Promise<string> {
    await this.#findLayers();
    return this.#commands[0]?.name ?? "";
  }

  /** Ends every child; current runs end with js_killed. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#watchdog.stop();
    for (const waiter of this.#turns.clear()) waiter.reject(stopped());
    const children = [...this.#children];
    for (const child of children) child.kill(KILLED);
    await Promise.all(children.map((child) => child.exited));
  }

  /** Runs user code. It rejects only if the sandbox is stopped or no child can be started. */
  async run(task: SandboxTask): Promise<SandboxResult> {
    const share = task.share ?? "";
    const child = await this.#take(share);
    if (task.signal.aborted) {
      this.#give(child, share);
      return KILLED;
    }
    const abort = (): void => child.kill(KILLED);
    task.signal.addEventListener("abort", abort, { once: true });
    this.#watchdog.wake();
    probe("sandbox.before-run");
    try {
      const { code, timeoutMs, onLog = () => undefined } = task;
      const [ctx, input] = [JSON.stringify(task.ctx ?? null), JSON.stringify(task.input ?? null)];
      return await child.run(
        { id: this.#nextId++, code, ctx, input, timeoutMs, ...RUN_LIMITS },
        { killAt: performance.now() + timeoutMs + KILL_GRACE_MS, onLog },
      );
    } finally {
      task.signal.removeEventListener("abort", abort);
      this.#give(child, share);
    }
  }

  async #take(share: string): Promise<SandboxProcess> {
    if (this.#isStopped) throw stopped();
    for (let child = this.#idle.pop(); child !== undefined; child = this.#idle.pop()) {
      if (child.isDead) continue;
      this.#turns.begin(share);
      return child;
    }
    const waiter = Promise.withResolvers<SandboxProcess>();
    this.#turns.wait(share, waiter);
    this.#grow();
    return await waiter.promise;
  }

  #give(child: SandboxProcess, share: string): void {
    this.#turns.end(share);
    const isSpare = this.#live() > this.#max && !this.#turns.hasNewcomer;
    if (!child.isDead && (isSpare || child.runs >= RUNS_MAX)) child.kill(KILLED);
    if (!child.isDead) this.#offer(child);
  }

  #offer(child: SandboxProcess): void {
    const waiter = this.#turns.next();
    if (waiter === undefined) this.#idle.push(child);
    else waiter.resolve(child);
  }

  /** Starts children while tasks wait and the pool has room; also called after a child has died. */
  #grow(): void {
    while (!this.#isStopped && this.#starting < this.#turns.waiting && this.#hasRoom()) {
      this.#starting++;
      this.#findLayers()
        .then(() => this.#spawn())
        // No child can be started for the task whose turn it is.
        .catch((error: unknown) => this.#turns.drop()?.reject(error))
        .finally(() => {
          this.#starting--;
          this.#grow();
        });
    }
  }

  #hasRoom(): boolean {
    const max = this.#max + (this.#turns.hasNewcomer ? SPARE : 0);
    return this.#live() + this.#starting < max;
  }

  #live(): number {
    return [...this.#children].filter((child) => !child.isDead).length;
  }

  /** Finds the strongest way to start a child on this host, once, by trying. The first child that works stays in the pool. */
  #findLayers(): Promise<void> {
    this.#found ??= (async () => {
      for (const command of this.#commands) {
        this.#commands = [command];
        if (await this.#launch(command)) return this.#options.onLayers?.(command.name);
      }
      throw new EngineError("INTERNAL", "no sandbox process can be started on this host");
    })();
    return this.#found;
  }

  async #spawn(): Promise<void> {
    const [command] = this.#commands;
    if (this.#turns.waiting === 0 || command === undefined || this.#isStopped) return;
    if (!(await this.#launch(command)))
      throw new EngineError("INTERNAL", "a sandbox process did not start");
  }

  async #launch(command: SandboxCommand): Promise<boolean> {
    const child = new SandboxProcess(command);
    this.#children.add(child);
    void child.exited.then(() => {
      this.#children.delete(child);
      this.#grow();
    });
    if (!(await child.ready)) return false;
    this.#offer(child);
    return true;
  }
}

const KILLED: SandboxResult = { ok: false, cause: "js_killed", message: "was stopped" };
const stopped = (): EngineError => new EngineError("DRAINING", "the sandbox is stopped");
