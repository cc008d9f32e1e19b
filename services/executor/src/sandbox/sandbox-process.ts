// One sandbox child in the view of the parent. States: starting → idle ⇄ busy → dead. It runs one request at a time. If it dies or is
// killed, its run ends with a reason and the pool replaces it. The parent reads only lines from a child.

import { spawn, type ChildProcess } from "node:child_process";
import { LIMITS } from "@pawl/core/data/limits";
import type { SandboxCommand } from "./layers.ts";
import { lineReader } from "./line-reader.ts";
import { parseReply, type SandboxRequest, type SandboxResult } from "./protocol.ts";

const STDERR_BYTES_MAX = 4_096;
const START_TIMEOUT_MS = 10_000;

interface Busy {
  readonly id: number;
  readonly killAt: number;
  readonly onLog: (level: string, message: string) => void;
  readonly settle: (result: SandboxResult) => void;
}

export class SandboxProcess {
  readonly #child: ChildProcess;
  #busy: Busy | undefined;
  #killed: SandboxResult | undefined;
  #isDead = false;
  /** How many requests it has taken. */
  runs = 0;
  readonly #ready = Promise.withResolvers<boolean>();
  readonly #exited = Promise.withResolvers<void>();
  /** True once it can take a request; false if it died before. */
  readonly ready = this.#ready.promise;
  readonly exited = this.#exited.promise;

  constructor(command: SandboxCommand) {
    const { file, args } = command;
    this.#child = spawn(file, args, { cwd: "/", env: {}, stdio: ["pipe", "pipe", "pipe"] });
    const startTimer = setTimeout(() => this.kill(crashed("did not start")), START_TIMEOUT_MS);
    void this.ready.then(() => clearTimeout(startTimer));
    this.#child.once("error", () => this.#died("could not be started"));
    this.#child.once("exit", (code, signal) => this.#died(`ended with ${signal ?? code}`));
    // A write to a child that just died is ignored; its exit ends the run.
    this.#child.stdin?.on("error", () => undefined);
    this.#child.stdout?.on(
      "data",
      lineReader({
        bytesMax: 2 * LIMITS.storedBytes + STDERR_BYTES_MAX,
        onLine: (line) => this.#onLine(line),
        onOverflow: () => this.kill(crashed("wrote a line that is too long")),
      }),
    );
    this.#child.stderr?.resume();
  }

  get isDead(): boolean {
    return this.#isDead || this.#killed !== undefined;
  }

  get isBusy(): boolean {
    return this.#busy !== undefined;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** When the watchdog must end the current run; infinite while idle. */
  get killAt(): number {
    return this.#busy?.killAt ?? Infinity;
  }

  /** Runs one request. Never rejects: if the child dies, the result is js_killed or the result given to `kill`. */
  run(
    request: SandboxRequest,
    options: { readonly killAt: number; readonly onLog: Busy["onLog"] },
  ): Promise<SandboxResult> {
    const { promise, resolve } = Promise.withResolvers<SandboxResult>();
    if (this.isDead) return Promise.resolve(crashed("was gone"));
    this.runs++;
    this.#busy = { id: request.id, ...options, settle: resolve };
    this.#child.stdin?.write(`${JSON.stringify(request)}\n`);
    return promise;
  }

  /** Ends the process at once; the current run gets `result`. */
  kill(result: SandboxResult): void {
    if (this.isDead) return;
    this.#killed = result;
    this.#child.kill("SIGKILL");
  }

  #onLine(line: string): void {
    const reply = parseReply(line);
    if (reply === undefined) return this.kill(crashed("wrote a malformed line"));
    if (reply.kind === "ready") return this.#ready.resolve(true);
    const busy = this.#busy;
    if (busy === undefined || reply.id !== busy.id) return;
    if (reply.kind === "log") return busy.onLog(reply.level, reply.message);
    // A kill has already set the result of this run.
    if (this.#killed !== undefined) return;
    this.#busy = undefined;
    busy.settle(reply.result);
  }

  #died(how: string): void {
    if (this.#isDead) return;
    this.#isDead = true;
    this.#ready.resolve(false);
    this.#exited.resolve();
    const busy = this.#busy;
    this.#busy = undefined;
    busy?.settle(this.#killed ?? crashed(how));
  }
}

const crashed = (how: string): SandboxResult => ({
  ok: false,
  cause: "js_killed",
  message: `the sandbox ${how}`,
});
