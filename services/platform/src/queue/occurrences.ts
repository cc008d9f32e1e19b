// When expressions come due, computed in a thread beside the service: a rule may take any time, and the event loop must not wait for
// it. One question at a time; one that takes longer than it may ends the thread, and the next one starts another. The thread is
// started when it is first needed and ended when nothing was asked for a while, since it holds some 20 MiB.
//
// Time is counted in ticks of our own event loop, not by a clock: a process that was frozen or starved of CPU starved its thread too,
// and no rule is to blame for that. What took too long is remembered for a while, so that who asks again is refused at once.

import { Worker } from "node:worker_threads";
import { EngineError } from "@pawl/core/fault/engine-error";
import type { Recurrence, RecurrenceFault } from "./boss-occurrences.ts";
import type { DueWindow } from "./due-times.ts";
import type { Answered, Asked } from "./occurrence-thread.ts";

/** A question may take the thread so long, in ticks. */
const TICK_MS = 100;
/** A second: a rule that needs more is refused. */
const ASK_TICKS = 10;
/** A firing waits longer for a rule that was taken once, and less than its transaction may stand still. */
const FIRE_TICKS = 35;
/** Loading pg-boss on a busy machine. */
const START_TICKS = 300;
const IDLE_MS = 60_000;
const HEAP_MIB = 96;
/** Questions that wait for the thread; more are refused. */
const LINE_MAX = 100;
const COSTLY_MAX = 1_000;
const COSTLY_MS = 10 * 60_000;

/** The rule took longer than it may. */
export class TooCostly extends Error {
  override readonly name = "TooCostly";

  constructor() {
    super("takes too long to compute; make the rule simpler");
  }
}

/** Every call rejects with TooCostly where the rule takes too long, and with OVERLOADED where too many wait. */
export interface Occurrences {
  /** As `occurrencesAfter`. */
  after(recurrence: Recurrence, afterMs: number, count: number): Promise<number[]>;
  /** As `recurrenceFault`; a rule that takes too long is a fault. */
  fault(recurrence: Recurrence, afterMs: number): Promise<RecurrenceFault | undefined>;
  /** The first occurrence after a time, or null when there is none; for firings, before other questions. */
  next(recurrence: Recurrence, afterMs: number): Promise<number | null>;
  /** As `dueTimes`; for firings, before other questions. */
  due(recurrence: Recurrence, window: DueWindow): Promise<number[]>;
}

interface Question extends Asked {
  readonly key: string;
  readonly ticks: number;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

export class OccurrenceThread implements Occurrences {
  readonly #line: Question[] = [];
  readonly #costly = new Map<string, number>();
  #worker: Worker | undefined;
  #isReady = false;
  #asking: Question | undefined;
  #ticksLeft = 0;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  after(recurrence: Recurrence, afterMs: number, count: number): Promise<number[]> {
    return this.#ask("after", recurrence, [afterMs, count]);
  }

  async fault(recurrence: Recurrence, afterMs: number): Promise<RecurrenceFault | undefined> {
    try {
      return await this.#ask("fault", recurrence, [afterMs]);
    } catch (error) {
      if (!(error instanceof TooCostly)) throw error;
      return { field: "expression", reason: "TOO_COSTLY", description: error.message };
    }
  }

  async next(recurrence: Recurrence, afterMs: number): Promise<number | null> {
    const times = await this.#ask<number[]>("after", recurrence, [afterMs, 1], true);
    return times[0] ?? null;
  }

  due(recurrence: Recurrence, window: DueWindow): Promise<number[]> {
    return this.#ask("due", recurrence, [window], true);
  }

  /** Ends the thread; questions under way and to come are refused. */
  async stop(): Promise<void> {
    this.#stopped = true;
    const left = [...(this.#asking === undefined ? [] : [this.#asking]), ...this.#line.splice(0)];
    this.#asking = undefined;
    for (const { reject } of left) reject(draining());
    await this.#end();
  }

  #ask<T>(
    name: Asked["name"],
    { expression, timeZone }: Recurrence,
    args: readonly unknown[],
    isFiring = false,
  ): Promise<T> {
    const key = `${timeZone}\n${expression}`;
    if (this.#stopped) return Promise.reject(draining());
    if ((this.#costly.get(key) ?? 0) > performance.now()) return Promise.reject(new TooCostly());
    if (!isFiring && this.#line.length >= LINE_MAX)
      return Promise.reject(
        new EngineError("OVERLOADED", "Too many schedules are being computed; try again.", {
          retryAfterMs: 1_000,
        }),
      );
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const ticks = isFiring ? FIRE_TICKS : ASK_TICKS;
    const all = [{ expression, timeZone }, ...args];
    const question = { name, args: all, key, ticks, resolve: resolve as never, reject };
    if (isFiring) this.#line.unshift(question);
    else this.#line.push(question);
    this.#advance();
    return promise;
  }

  /** Sends the next question, if the thread is free; starts the thread, or ends it in a while. */
  #advance(): void {
    if (this.#asking !== undefined || this.#stopped) return;
    if (this.#line.length === 0) {
      this.#wait(IDLE_MS, () => void this.#end());
      return;
    }
    if (this.#worker === undefined) {
      this.#start();
      return;
    }
    if (!this.#isReady) return;
    const question = this.#line.shift();
    if (question === undefined) return;
    this.#asking = question;
    const { name, args } = question;
    // A thread, not a window.
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    this.#worker.postMessage({ name, args } satisfies Asked);
    this.#count(question.ticks, () => this.#tooLong(question));
  }

  #start(): void {
    const worker = new Worker(new URL("./occurrence-thread.ts", import.meta.url), {
      execArgv: [],
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
    });
    worker.unref();
    this.#worker = worker;
    worker.on("message", (answer: Answered) => this.#hear(worker, answer));
    worker.on("error", (error) => this.#broken(worker, error));
    this.#count(START_TICKS, () => this.#broken(worker, new Error("the thread did not start")));
  }

  #hear(worker: Worker, answer: Answered): void {
    if (worker !== this.#worker) return;
    clearTimeout(this.#timer);
    const asking = this.#asking;
    this.#asking = undefined;
    if (answer.kind === "ready") this.#isReady = true;
    else if (answer.kind === "value") asking?.resolve(answer.value as never);
    else asking?.reject(new Error(answer.message));
    this.#advance();
  }

  /** The thread ended by itself: out of memory, which a rule is to blame for, or a fault of ours. */
  #broken(worker: Worker, error: unknown): void {
    if (worker !== this.#worker) return;
    const asking = this.#asking;
    if (asking !== undefined && isOutOfMemory(error)) return this.#tooLong(asking);
    this.#asking = undefined;
    // Without a question the thread itself does not start; who waits is told, or would wait for ever.
    for (const { reject } of asking === undefined ? this.#line.splice(0) : [asking]) reject(error);
    void this.#end().then(() => this.#advance());
  }

  #tooLong({ key, reject }: Question): void {
    this.#asking = undefined;
    if (this.#costly.size >= COSTLY_MAX) this.#costly.clear();
    this.#costly.set(key, performance.now() + COSTLY_MS);
    reject(new TooCostly());
    void this.#end().then(() => this.#advance());
  }

  async #end(): Promise<void> {
    clearTimeout(this.#timer);
    const worker = this.#worker;
    this.#worker = undefined;
    this.#isReady = false;
    await worker?.terminate();
  }

  /** Calls `late` after so many ticks of this event loop. */
  #count(ticks: number, late: () => void): void {
    this.#ticksLeft = ticks;
    const tick = (): void => {
      this.#ticksLeft -= 1;
      if (this.#ticksLeft <= 0) late();
      else this.#wait(TICK_MS, tick);
    };
    this.#wait(TICK_MS, tick);
  }

  #wait(ms: number, then: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(then, ms).unref();
  }
}

const draining = (): EngineError => new EngineError("DRAINING", "This process is stopping.");

const isOutOfMemory = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
