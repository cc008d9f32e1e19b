// The handler process of `pawl dev`, from one version of the user's code to the next. A new version starts beside the old one. When the
// host lists its session, the old process gets SIGTERM. It takes no more work, finishes its work on the old code, and exits. A reload sets no
// limit for that: several old versions may work at once.
//
// Races. Files change while a version starts: that version ends, and one of the newest files follows, so a version that never connects
// blocks nothing. A version does not start: the old one stays. A version ends by itself: it starts again after a pause that doubles. A new
// version changes the schemas of a type while the old one serves it: the scheduler refuses the type. Once the old process has finished, the
// same code starts again and gets the type. A function ignores its cancel: the same code replaces the version. The old process is killed
// when only such functions are left. stop() comes during a start or while old versions work: every process ends, within the limit of stop().

import { setTimeout as delay } from "node:timers/promises";
import { backoffMs } from "../supervise.ts";
import type { HandlerProcess } from "./handler-process.ts";
import { drainOrKill, type WaitUntilStuck } from "./stuck.ts";

export type Report =
  | { readonly kind: "starting"; readonly version: number }
  | {
      readonly kind: "serving";
      readonly version: number;
      readonly pid: number;
      /** Older versions that still work. */
      readonly draining: number;
    }
  | {
      readonly kind: "failed";
      readonly version: number;
      readonly why: string;
      /** Whether an older version still serves. */
      readonly isReplaced: boolean;
    }
  | { readonly kind: "ended"; readonly version: number; readonly how: string }
  /** It has ended; `killed` functions ignored their cancel until then. */
  | { readonly kind: "drained"; readonly version: number; readonly killed: number }
  /** So many functions ignore their cancel. */
  | { readonly kind: "stuck"; readonly version: number; readonly functions: number }
  | { readonly kind: "refused"; readonly version: number }
  /** Every process ends; so many old versions still work. */
  | { readonly kind: "stopping"; readonly version: number; readonly draining: number };

export interface GenerationsOptions {
  /** Starts a version of the process. */
  readonly start: (version: number) => HandlerProcess;
  /** Settles when the host has a session of this version. It rejects when the signal aborts. */
  readonly connected: (version: number, signal: AbortSignal) => Promise<void>;
  /** Settles when no host gives work to this version any more. It rejects when the signal aborts. */
  readonly leaving: (version: number, signal: AbortSignal) => Promise<void>;
  /**
   * Whether the scheduler refused a type to this version because the version before had other schemas. It rejects when the signal aborts.
   */
  readonly refused: (version: number, signal: AbortSignal) => Promise<boolean>;
  /**
   * Settles with the number of functions of this version that have ignored their cancel for the grace. With `isAlone` it waits until nothing
   * else runs in the process. It rejects when the signal aborts.
   */
  readonly stuck: (version: number, isAlone: boolean, signal: AbortSignal) => Promise<number>;
  readonly report: (report: Report) => void;
}

interface Generation {
  readonly version: number;
  readonly process: HandlerProcess;
}

export class Generations {
  readonly #options: GenerationsOptions;
  readonly #stopping = new AbortController();
  readonly #draining = new Map<Generation, Promise<void>>();
  #current: Generation | undefined;
  #version = 0;
  #isChanged = false;
  #work: Promise<void> | undefined;
  #quickEnds = 0;
  /** Aborts when the version that starts is out of date. */
  #starting = new AbortController();

  constructor(options: GenerationsOptions) {
    this.#options = options;
  }

  /** Replaces the process by one of the present code. A call during a replacement starts it again. */
  reload(): void {
    this.#isChanged = true;
    this.#starting.abort(new Error("its files changed while it started"));
    this.#work ??= this.#replaceAll().finally(() => (this.#work = undefined));
  }

  /** Ends every process. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#work;
    const draining = this.#draining.size;
    if (draining > 0) this.#options.report({ kind: "stopping", version: this.#version, draining });
    const old = [...this.#draining].map(([{ process }, drained]) =>
      Promise.all([process.stop(), drained]),
    );
    await Promise.all([this.#current?.process.stop(), ...old]);
  }

  async #replaceAll(): Promise<void> {
    while (this.#isChanged && !this.#stopping.signal.aborted) {
      this.#isChanged = false;
      await this.#replace();
    }
  }

  async #replace(): Promise<void> {
    const { report, start } = this.#options;
    const version = (this.#version += 1);
    this.#starting = new AbortController();
    report({ kind: "starting", version });
    const next = { version, process: start(version) };
    const why = await this.#whyNotConnected(next);
    if (why !== undefined) {
      await next.process.stop();
      const isReplaced = this.#current !== undefined;
      if (!this.#stopping.signal.aborted) report({ kind: "failed", version, why, isReplaced });
      return;
    }
    const old = this.#current;
    this.#current = next;
    if (old !== undefined) this.#drain(old);
    void this.#reportServing(next, old);
    void this.#startAgainAfter(next);
    void this.#replaceIfStuck(next);
  }

  /** Both versions get work until the host knows that the old one leaves. So a user who reads the line runs the new code. */
  async #reportServing({ version, process }: Generation, old: Generation | undefined) {
    const signal = AbortSignal.any([this.#stopping.signal, AbortSignal.timeout(LEAVE_MS)]);
    if (old !== undefined)
      await Promise.race([this.#options.leaving(old.version, signal), old.process.exited]).catch(
        () => undefined,
      );
    if (this.#current?.version !== version || this.#stopping.signal.aborted) return;
    const draining = this.#draining.size;
    this.#options.report({ kind: "serving", version, pid: process.pid, draining });
  }

  /** Waits for the session of a new version. Returns why there is none. */
  async #whyNotConnected({ version, process }: Generation): Promise<string | undefined> {
    const settled = new AbortController();
    const given = AbortSignal.any([this.#starting.signal, this.#stopping.signal]);
    const signal = AbortSignal.any([given, settled.signal]);
    try {
      return await Promise.race([
        this.#options.connected(version, signal).then(() => undefined),
        process.exited,
      ]);
    } catch (error) {
      const why: unknown = given.aborted ? given.reason : error;
      return why instanceof Error ? why.message : String(why);
    } finally {
      settled.abort();
    }
  }

  #drain(old: Generation): void {
    const alone: WaitUntilStuck = (over) =>
      this.#options.stuck(old.version, true, AbortSignal.any([this.#stopping.signal, over]));
    const drained = drainOrKill(old.process, alone).then(async ({ killed }) => {
      this.#draining.delete(old);
      this.#options.report({ kind: "drained", version: old.version, killed });
      await this.#startAgainIfRefused();
    });
    this.#draining.set(old, drained);
  }

  async #startAgainIfRefused(): Promise<void> {
    const { signal } = this.#stopping;
    const version = this.#current?.version;
    if (version === undefined || signal.aborted || this.#work !== undefined) return;
    const isRefused = await this.#options.refused(version, signal).catch(() => false);
    if (!isRefused || this.#current?.version !== version || signal.aborted) return;
    this.#options.report({ kind: "refused", version });
    this.reload();
  }

  async #replaceIfStuck(generation: Generation): Promise<void> {
    const over = new AbortController();
    void generation.process.exited.then(() => over.abort());
    const signal = AbortSignal.any([this.#stopping.signal, over.signal]);
    const { version } = generation;
    const functions = await this.#options.stuck(version, false, signal).catch(() => 0);
    if (functions === 0 || this.#current !== generation || this.#stopping.signal.aborted) return;
    this.#options.report({ kind: "stuck", version, functions });
    this.reload();
  }

  async #startAgainAfter(generation: Generation): Promise<void> {
    const upSince = performance.now();
    const how = await generation.process.exited;
    if (this.#current !== generation || this.#stopping.signal.aborted) return;
    this.#current = undefined;
    this.#quickEnds = performance.now() - upSince > STABLE_MS ? 1 : this.#quickEnds + 1;
    this.#options.report({ kind: "ended", version: generation.version, how });
    const { signal } = this.#stopping;
    await delay(backoffMs(this.#quickEnds), undefined, { signal }).catch(() => undefined);
    if (this.#current === undefined && !signal.aborted) this.reload();
  }
}

/** How long a process may take to announce that it leaves. One that does not is shown as replaced all the same. */
const LEAVE_MS = 5_000;
/** A process that lived this long did not end because of its start. */
const STABLE_MS = 10_000;
