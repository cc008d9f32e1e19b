// The scheduler's loop. It commits one tick at a time and drafts the next tick meanwhile. Inputs gather in the next tick, so the batch
// grows with the load, and a lone input never waits. When a tick fails, the loop also gives up the tick above it, and `redo.ts` tries the
// inputs of both again. Inputs about a run that cannot move now wait aside (`aside.ts`) and delay no other run.

import { EngineError } from "@pawl/core/fault/engine-error";
import { probe } from "@pawl/platform/lifecycle/probe";
import type { Timers } from "@pawl/platform/lifecycle/timers";
import type { RunId } from "@pawl/core/name/ids";
import { Aside, type UnsettledResult, unsettledResults } from "./aside.ts";
import { claimableTypes } from "../decide/claim.ts";
import { Inbox } from "../inputs/inbox.ts";
import { isCommand } from "../inputs/command.ts";
import type { Answer, Input } from "../inputs/input.ts";
import { Redo, type RedoOptions } from "./redo.ts";
import { Tick } from "./tick.ts";

/** The loop waits for more inputs only if the last batch had at least this many. A lone run never waits. */
const CROWD_MIN = 3;
const GATHER_MS = 1;
/** The loop waits until the batch has this share of the last one. */
const ENOUGH = 0.6;
/** setTimeout takes at most 2^31-1 ms. */
const TIMER_MAX_MS = 2 ** 31 - 1;

interface LoopOptions extends Omit<RedoOptions, "aside"> {
  /** Timers for runs that wait aside, and for batches that grow. */
  readonly timers: Timers;
  readonly steady: () => number;
}

interface Failure {
  readonly error: unknown;
}

/** A tick that is being committed. */
interface Committing {
  readonly tick: Tick;
  /** Settles when the commit is over. */
  readonly failure: Promise<Failure | undefined>;
}

export class TickLoop {
  readonly #options: LoopOptions & RedoOptions;
  readonly #inbox = new Inbox();
  readonly #aside: Aside;
  readonly #redo: Redo;
  #busy: Promise<void> | undefined;
  #dueTimer: NodeJS.Timeout | undefined;
  /** The tick that is being committed while the next is drafted. */
  #below: Committing | undefined;
  /** The tick that is drafted now, or was last. */
  #open: Tick | undefined;
  #current: Promise<void> | undefined;
  #arrived: (() => void) | undefined;
  #stopped = false;
  #lastBatch = 0;

  constructor(options: LoopOptions) {
    const { recovery, timers, steady } = options;
    this.#aside = new Aside({ recovery, timers, steady, onDue: () => this.poll() });
    this.#options = { ...options, aside: this.#aside };
    this.#redo = new Redo(this.#options, this.#inbox, this.#aside);
  }

  /** The time that the loop plans with. */
  get now(): number {
    return this.#options.now();
  }

  /** Takes an input. Its answer is called when the input is committed or refused. */
  submit(input: Input): void {
    if (this.#stopped) {
      input.answer.reject(draining());
      return;
    }
    const { downFailure } = this.#options.store;
    if (downFailure !== undefined && isCommand(input)) {
      input.answer.reject(downFailure);
      return;
    }
    this.#inbox.push(input);
    this.#arrived?.();
    this.#run();
  }

  /** Submits an input and waits for its answer. @throws the error if the input was refused */
  ask<T>(input: (answer: Answer<T>) => Input): Promise<T> {
    return new Promise((resolve, reject) => this.submit(input({ resolve, reject })));
  }

  /** Looks at the queues again, because an executor has room again or another scheduler queued jobs. */
  poll(): void {
    if (!this.#stopped) this.#run();
  }

  /** Settles when the ticks that are under way now are over. */
  async afterTick(): Promise<void> {
    await Promise.all([this.#current, this.#below?.tick.over, this.#open?.over]);
  }

  /** Finishes the inputs that have arrived and takes no more. Executors send results that cannot be stored now to another scheduler. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#dueTimer);
    this.#aside.stop(draining());
    await this.#busy;
  }

  /** The results of a run that have waited longer than a commit takes. */
  unsettled(runId: RunId): UnsettledResult[] {
    const { failure } = this.#options.store;
    const aside = this.#aside.about(runId);
    const held = aside === undefined ? [] : unsettledResults(runId, aside.inputs, aside.error);
    if (failure === undefined) return held;
    const tried = [this.#below?.tick, this.#open, this.#redo.tick].flatMap((tick) =>
      tick === undefined || tick.isOver ? [] : [...tick.inputs, ...tick.left],
    );
    const waiting = new Set([...tried, ...this.#inbox.about(runId)]);
    return [...held, ...unsettledResults(runId, waiting, failure)];
  }

  #run(): void {
    this.#busy ??= this.#drain().finally(() => {
      this.#busy = undefined;
      if (this.#hasMore) this.#run();
      else this.#armTimer();
    });
  }

  async #drain(): Promise<void> {
    // All inputs of this turn of the event loop belong to the first batch.
    await turn();
    do {
      this.#current = this.#next();
      await this.#current;
    } while (this.#below !== undefined || this.#hasMore || this.#canClaim());
  }

  /** Whether there is something to try. A scheduler that stops does not wait for a failing store. */
  get #hasMore(): boolean {
    if (this.#options.store.failure !== undefined) return !this.#stopped;
    return this.#inbox.size > 0 || this.#aside.isDue;
  }

  /** Drafts one tick while the tick below is being committed, and sends it. */
  async #next(): Promise<void> {
    const below = this.#below;
    const { failure } = this.#options.store;
    if (this.#aside.isDue && failure === undefined) return await this.#tryAside(below);
    if (below === undefined && failure !== undefined && this.#inbox.size === 0)
      return await this.#redo.store.probe();
    if (below === undefined) await this.#gather(this.#inbox.size, this.#lastBatch);
    const claimMax = this.#redo.blame.max;
    const tick = new Tick(this.#options, { below: below?.tick, claimMax });
    this.#open = tick;
    const fault = await this.#fill(tick, below);
    const failedBelow = await below?.failure;
    this.#below = undefined;
    this.#options.cache.trim();
    this.#inbox.leave(tick.left);
    this.#lastBatch = tick.inputs.length;
    if (failedBelow !== undefined && below !== undefined) {
      tick.giveUp();
      this.#inbox.putBack(tick.inputs);
      return await this.#redo.after(failedBelow.error, below.tick);
    }
    if (fault !== undefined) {
      tick.giveUp();
      return await this.#redo.after(fault.error, tick);
    }
    // No input arrived during the commit below.
    if (below !== undefined && tick.inputs.length === 0) return tick.giveUp();
    await this.#send(tick);
  }

  /** Tries a run that waited aside, while no other tick is under way. */
  async #tryAside(below: Committing | undefined): Promise<void> {
    const failedBelow = await below?.failure;
    this.#below = undefined;
    if (failedBelow !== undefined && below !== undefined)
      return await this.#redo.after(failedBelow.error, below.tick);
    await this.#redo.alone(this.#aside.take());
  }

  /** The next inputs, without those about runs that wait aside. */
  #take(): readonly Input[] {
    return this.#aside.divert(this.#inbox.take(this.#redo.store.batchMax));
  }

  /** Gives the tick the inputs that have arrived, and those that arrive until the commit below is over. */
  async #fill(tick: Tick, below: Committing | undefined): Promise<Failure | undefined> {
    try {
      await tick.take(this.#take());
      if (below === undefined) return undefined;
      while (!below.tick.isOver && !tick.isFull) {
        if (this.#inbox.size === 0) await this.#arrivalDuring(below.tick);
        else await tick.take(this.#take());
      }
      if (!tick.isFull)
        await this.#gather(tick.inputs.length, tick.inputs.length + below.tick.inputs.length);
      // Until now the tick held back inputs about the runs of the tick below.
      if ((await below.failure) === undefined && !tick.isFull) await tick.take(this.#take());
      return undefined;
    } catch (error) {
      return { error };
    }
  }

  /** Sends a tick. The loop may draft the next tick when this settles. */
  async #send(tick: Tick): Promise<void> {
    const began = performance.now();
    const written = Promise.withResolvers<void>();
    const { isDecided } = tick;
    const commit = async (): Promise<Failure | undefined> => {
      try {
        const report = await tick.commit(written.resolve);
        this.#options.onTick({ ...report, ms: performance.now() - began });
        this.#redo.succeeded(report);
        return undefined;
      } catch (error) {
        return { error };
      }
    };
    const failure = commit();
    if (isDecided) {
      this.#below = { tick, failure };
      await Promise.race([written.promise, failure]);
      return;
    }
    const failed = await failure;
    if (failed !== undefined) await this.#redo.after(failed.error, tick);
  }

  /** Settles with the next input, or when the tick below is over. Inputs of the same turn of the event loop belong together. */
  async #arrivalDuring(below: Tick): Promise<void> {
    const arrival = new Promise<void>((resolve) => (this.#arrived = resolve));
    await Promise.race([arrival, below.over]);
    this.#arrived = undefined;
    if (!below.isOver) await turn();
  }

  /**
   * Under load, waits a moment until the batch is about as large as the last one. A commit and the wake-ups around it cost the same for one
   * input as for fifty. Without this wait the loop ran 950 ticks/s of 3 inputs while 32 runs were under way. A wait for the whole size of
   * the last batch cost 8 % of throughput, because some runs end in every round. If one tick is drafted above another, both sizes count:
   * otherwise their runs would alternate in ticks of half the size.
   */
  async #gather(have: number, crowd: number): Promise<void> {
    if (crowd < CROWD_MIN || have >= ENOUGH * crowd) return;
    await new Promise<void>((resolve) => this.#options.timers.after(GATHER_MS, resolve));
  }

  #canClaim(): boolean {
    if (this.#stopped && this.#options.store.failure !== undefined) return false;
    return claimableTypes(this.#options).length > 0;
  }

  /** Wakes the loop when the next delayed job is due. */
  #armTimer(): void {
    clearTimeout(this.#dueTimer);
    const dueInMs = this.#options.waiting.nextDueInMs;
    if (dueInMs === undefined || this.#stopped) return;
    const waitMs = Math.min(TIMER_MAX_MS, Math.max(1, dueInMs + 1));
    this.#dueTimer = setTimeout(() => {
      probe("tick.timer-fired");
      this.poll();
    }, waitMs);
  }
}

const draining = (): EngineError =>
  new EngineError("DRAINING", "This scheduler is stopping; try again.");

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
