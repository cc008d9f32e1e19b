// Computes in a thread when expressions are due, because a rule may take long and must not block the event loop. The thread answers one
// question at a time. A question that takes too long ends the thread, and the next question starts another. An idle thread ends, because it
// holds some 20 MiB.
//
// Time is counted in ticks of our own event loop, not by a clock. A process that was frozen or had no CPU also starved its thread, and that
// is not the rule's fault. A rule that took too long is remembered for a while, and refused at once.

import { Worker } from "node:worker_threads";
import { BoundedMap } from "@pawl/core/data/bounded-map";
import { LIMITS } from "@pawl/core/data/limits";
import { EngineError } from "@pawl/core/fault/engine-error";
import type { DueWindow, Recurrence, RecurrenceFault } from "./boss-occurrences.ts";
import type { Answered, Asked } from "./occurrence-thread.ts";

const TICK_MS = 100;
/** One second. A rule that takes longer is refused. */
const ASK_TICKS = 10;
/** A firing waits longer, because its rule was accepted once. It waits less than its transaction may be idle. */
const FIRE_TICKS = 35;
/** The time to load pg-boss on a busy machine. */
const START_TICKS = 300;
const IDLE_MS = 60_000;
const HEAP_MIB = 96;
/** Questions that wait for the thread. Further ones are refused. */
const LINE_MAX = 100;
const COSTLY_MAX = 1_000;
const COSTLY_MS = 10 * 60_000;

/** The rule took too long. */
export class TooCostly extends Error {
  override readonly name = "TooCostly";

  constructor() {
    super("takes too long to compute; make the rule simpler");
  }
}

/** Every call rejects with TooCostly if the rule takes too long, and with OVERLOADED if too many questions wait. */
export type Occurrences = Pick<OccurrenceThread, "after" | "fault" | "next" | "due">;

interface Question extends Asked {
  readonly key: string;
  readonly ticks: number;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

export class OccurrenceThread {
  readonly #line: Question[] = [];
  readonly #costly = new BoundedMap<string, number>(COSTLY_MAX);
  #worker: Worker | undefined;
  #isReady = false;
  #asking: Question | undefined;
  #ticksLeft = 0;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  /** As `occurrencesAfter`. */
  after(recurrence: Recurrence, afterMs: number, count: number): Promise<number[]> {
    return this.#ask("after", recurrence, [afterMs, count]);
  }

  /** As `recurrenceFault`. A rule that takes too long is a fault. */
  async fault(recurrence: Recurrence, afterMs: number): Promise<RecurrenceFault | undefined> {
    try {
      return await this.#ask("fault", recurrence, [afterMs]);
    } catch (error) {
      if (!(error instanceof TooCostly)) throw error;
      return { field: "expression", reason: "TOO_COSTLY", description: error.message };
    }
  }

  /** The first occurrence after a time, or null if there is none. Firings use it, and it goes before other questions. */
  async next(recurrence: Recurrence, afterMs: number): Promise<number | null> {
    const times = await this.#ask<number[]>("after", recurrence, [afterMs, 1], true);
    return times[0] ?? null;
  }

  /** As `dueTimes`. Firings use it, and it goes before other questions. */
  due(recurrence: Recurrence, window: DueWindow): Promise<number[]> {
    return this.#ask("due", recurrence, [window], true);
  }

  /** Ends the thread. Present and later questions are refused. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#asking?.reject(draining());
    this.#asking = undefined;
    for (const { reject } of this.#line.splice(0)) reject(draining());
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
    if (!isFiring && this.#line.length >= LINE_MAX) {
      const message = "Too many schedules are being computed; try again.";
      return Promise.reject(new EngineError("OVERLOADED", message, { retryAfterMs: 1_000 }));
    }
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const ticks = isFiring ? FIRE_TICKS : ASK_TICKS;
    const all = [{ expression, timeZone }, ...args];
    const question = { name, args: all, key, ticks, resolve: resolve as never, reject };
    if (isFiring) this.#line.unshift(question);
    else this.#line.push(question);
    this.#advance();
    return promise;
  }

  /** Sends the next question if the thread is free. Starts the thread, or ends it after an idle time. */
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
    const question = this.#isReady ? this.#line.shift() : undefined;
    if (question === undefined) return;
    this.#asking = question;
    const { name, args } = question;
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no target origin, a window has
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
    worker.on("message", (answer: Answered) => this.#answered(worker, answer));
    worker.on("error", (error) => this.#broken(worker, error));
    this.#count(START_TICKS, () => this.#broken(worker, new Error("the thread did not start")));
  }

  #answered(worker: Worker, answer: Answered): void {
    if (worker !== this.#worker) return;
    clearTimeout(this.#timer);
    const asking = this.#asking;
    this.#asking = undefined;
    if (answer.kind === "ready") this.#isReady = true;
    else if (answer.kind === "value") asking?.resolve(answer.value as never);
    else asking?.reject(new Error(answer.message));
    this.#advance();
  }

  /** The thread ended by itself: a rule used up its memory, or there is a bug in Pawl. */
  #broken(worker: Worker, error: unknown): void {
    if (worker !== this.#worker) return;
    const asking = this.#asking;
    if (asking !== undefined && isOutOfMemory(error)) return this.#tooLong(asking);
    this.#asking = undefined;
    // No question was under way, so the thread could not start. Then every waiting question is refused.
    for (const { reject } of asking === undefined ? this.#line.splice(0) : [asking]) reject(error);
    void this.#end().then(() => this.#advance());
  }

  #tooLong({ key, reject }: Question): void {
    this.#asking = undefined;
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

  /** Calls `late` after this many ticks of this event loop. */
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

/** How many future times a person sees with a schedule. */
export const OCCURRENCES_SHOWN = LIMITS.previewTimes;

/**
 * The next times of a schedule, for people. There are none unless it is active, and fewer if its rule ends. They begin with the schedule's
 * own next occurrence, so a person sees the times that will fire.
 */
export async function upcoming(
  occurrences: Occurrences,
  { nextAt, spec }: { readonly nextAt: number | null; readonly spec: Recurrence },
  count: number,
): Promise<number[]> {
  if (nextAt === null) return [];
  try {
    return [nextAt, ...(await occurrences.after(spec, nextAt, count - 1))];
  } catch {
    // The rule could be read when it was saved, but its later occurrences cannot be computed now.
    return [nextAt];
  }
}
