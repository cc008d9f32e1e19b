// The scheduler's loop. Inputs gather while a tick is under way, so the batch grows with the load and a lone input never
// waits. One tick at a time: it is the only writer of this process.
//
// What may go wrong, and what follows:
//   a run moved on, a deadlock, a unique key   the folds were dropped; the same inputs again, a bounded number of times
//   the pauses have changed                    they are read again; the same inputs again, a bounded number of times
//   a workflow has a newer version             the starts that assumed otherwise are handed back; the rest goes on
//   the database is away                       commands are told so; what executors said is kept and offered again
//   anything else (a bug)                      inputs are tried one by one, so that one poisoned run stops no other; one that
//                                              goes on failing puts its run into quarantine, unless somebody waits for its answer

import { EngineError } from "@pawl/core/fault/engine-error";
import { isContention, isUniqueViolation, sqlState } from "@pawl/platform/db/failure";
import { probe } from "@pawl/platform/lifecycle/probe";
import { PausesMoved, RunMoved, WorkflowMoved } from "@pawl/platform/store/journal";
import type { KnownPauses } from "../pause/known-pauses.ts";
import type { MarkRun } from "../recover/quarantine.ts";
import { type Input, runOf } from "./input.ts";
import { claimableTypes } from "./claim.ts";
import { answerDuplicates } from "./duplicates.ts";
import { Inbox } from "./inbox.ts";
import { tick, type TickParts, type TickReport } from "./tick.ts";

const BATCH_MAX = 256;
const RETRIES_MAX = 50;
/** How often an input that fails alone is tried again, on a fresh fold each time. */
const FAULT_TRIES_MAX = 2;
/** From this many inputs in the last batch on, more are worth waiting for; a lone run never waits. */
const CROWD_MIN = 3;
const GATHER_MS = 1;
/** The share of the last batch that is not worth waiting beyond. */
const ENOUGH = 0.6;
const AWAY_PAUSE_MS = 200;
/** setTimeout takes at most 2^31-1 ms. */
const TIMER_MAX_MS = 2 ** 31 - 1;

/** Inputs whose sender waits for the answer, and may say them again. */
const COMMANDS: ReadonlySet<Input["kind"]> = new Set([
  "start",
  "cancel",
  "decide",
  "pause",
  "resume",
]);

export interface LoopOptions extends TickParts {
  readonly pauses: Pick<KnownPauses, "current" | "reload">;
  readonly onTick: (
    report: Omit<TickReport, "left"> & { readonly batchSize: number; readonly ms: number },
  ) => void;
  /** A compare-and-swap was lost, or a lock; the tick is done again. */
  readonly onConflict: () => void;
  readonly onError: (error: unknown, inputs: readonly Input[]) => void;
  /** The engine fails on what happened to this run. */
  readonly onPoisoned?: MarkRun;
}

export class TickLoop {
  readonly #options: LoopOptions;
  readonly #inbox = new Inbox();
  #busy: Promise<void> | undefined;
  #dueTimer: NodeJS.Timeout | undefined;
  /** The tick under way, or the last one. */
  #current: Promise<void> | undefined;
  #stopped = false;
  #lastBatch = 0;

  constructor(options: LoopOptions) {
    this.#options = options;
  }

  /** Takes an input; its answer is called when the input is committed, refused or given up. */
  offer(input: Input): void {
    if (this.#stopped) {
      input.answer.reject(new EngineError("DRAINING", "This scheduler is stopping; try again."));
      return;
    }
    this.#inbox.push(input);
    this.#run();
  }

  /** Looks at the queues again: room was freed, or somebody else put jobs there. */
  nudge(): void {
    if (!this.#stopped) this.#run();
  }

  /** Settles when the tick under way now is over, if there is one. */
  async afterTick(): Promise<void> {
    await this.#current;
  }

  /** Finishes what has arrived and takes nothing more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#dueTimer);
    await this.#busy;
  }

  #run(): void {
    this.#busy ??= this.#drain().finally(() => {
      this.#busy = undefined;
      if (this.#inbox.size > 0) this.#run();
      else this.#armTimer();
    });
  }

  async #drain(): Promise<void> {
    // Everything that arrives in this turn of the event loop belongs to the first batch.
    await new Promise((resolve) => setImmediate(resolve));
    do {
      await this.#gather();
      const batch = this.#inbox.take(BATCH_MAX);
      this.#lastBatch = batch.length;
      this.#current = this.#process(batch, 0);
      await this.#current;
    } while (this.#inbox.size > 0 || this.#canClaim());
  }

  /**
   * Under load, waits a moment for the batch to grow towards the last one. A commit and the wake-ups around it cost the same for
   * one input as for fifty: without this the loop ran 950 ticks/s of 3 inputs where 32 runs were under way. Waiting for as many as
   * last time cost 8 % of throughput, since some runs end in every round.
   */
  async #gather(): Promise<void> {
    if (this.#lastBatch < CROWD_MIN || this.#inbox.size >= ENOUGH * this.#lastBatch) return;
    await new Promise((resolve) => setTimeout(resolve, GATHER_MS));
  }

  #canClaim(): boolean {
    return claimableTypes(this.#options).length > 0;
  }

  async #process(batch: readonly Input[], retries: number, faults = 0): Promise<void> {
    const began = performance.now();
    try {
      const { left, ...report } = await tick(this.#options, batch);
      this.#inbox.leave(left);
      this.#options.onTick({
        ...report,
        batchSize: batch.length - left.length,
        ms: performance.now() - began,
      });
    } catch (error) {
      await this.#recover(batch, { retries, faults, error });
    }
  }

  async #recover(
    batch: readonly Input[],
    { retries, faults, error }: { retries: number; faults: number; error: unknown },
  ): Promise<void> {
    if (error instanceof RunMoved || isContention(error) || isUniqueViolation(error)) {
      this.#options.onConflict();
      if (retries >= RETRIES_MAX) return reject(batch, contended(error));
      const rest = await this.#withoutDuplicates(batch, error);
      if (rest !== undefined) await this.#process(rest, retries + 1);
      return;
    }
    if (error instanceof PausesMoved) {
      if (retries >= RETRIES_MAX) return reject(batch, contended(error));
      if (await this.#readPauses(batch)) await this.#process(batch, retries + 1);
      return;
    }
    if (error instanceof WorkflowMoved) {
      const assumed = (input: Input): boolean => input.kind === "start" && input.assumesNewest;
      reject(batch.filter(assumed), error);
      await this.#process(
        batch.filter((input) => !assumed(input)),
        retries,
      );
      return;
    }
    if (error instanceof EngineError && error.reason === "STORE_UNAVAILABLE") {
      await this.#waitForStore(batch, error);
      return;
    }
    this.#options.onError(error, batch);
    const [input, ...others] = batch;
    if (input === undefined) await pause();
    else if (others.length > 0) for (const each of batch) await this.#process([each], retries);
    else if (faults < FAULT_TRIES_MAX) await this.#process(batch, retries, faults + 1);
    else this.#giveUp(input, error);
  }

  async #readPauses(batch: readonly Input[]): Promise<boolean> {
    try {
      await this.#options.pauses.reload();
      return true;
    } catch (failure) {
      await this.#waitForStore(batch, failure);
      return false;
    }
  }

  /** Nobody would say it again: dropped, it would leave its run stuck for ever in silence. */
  #giveUp(input: Input, error: unknown): void {
    if (isOwnedByNobody(input) && isOfTheRun(error)) {
      const detail = `the engine failed on ${input.kind}: ${error instanceof Error ? error.message : String(error)}`;
      void this.#options.onPoisoned?.(runOf(input), { reason: "INTERNAL", detail });
    }
    reject([input], error);
  }

  async #withoutDuplicates(
    batch: readonly Input[],
    error: unknown,
  ): Promise<readonly Input[] | undefined> {
    if (!isUniqueViolation(error)) return batch;
    try {
      const { now, later } = await answerDuplicates(this.#options.journal, batch);
      this.#inbox.push(...later);
      return now;
    } catch (failure) {
      await this.#waitForStore(batch, failure);
      return undefined;
    }
  }

  /** Commands hear of the outage; the rest, which nobody would say again soon, is kept. */
  async #waitForStore(batch: readonly Input[], error: unknown): Promise<void> {
    const isCommand = (input: Input): boolean => COMMANDS.has(input.kind);
    reject(batch.filter(isCommand), error);
    this.#inbox.putBack(batch.filter((input) => !isCommand(input)));
    await pause();
  }

  /** Wakes the loop when the next delayed job is due. */
  #armTimer(): void {
    clearTimeout(this.#dueTimer);
    const dueAt = this.#options.waiting.nextDueAt;
    if (dueAt === undefined || this.#stopped) return;
    const waitMs = Math.min(TIMER_MAX_MS, Math.max(1, dueAt - this.#options.now() + 1));
    this.#dueTimer = setTimeout(() => {
      probe("S9");
      this.nudge();
    }, waitMs);
  }
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, AWAY_PAUSE_MS));

/** What executors and sweeps say; a command's caller hears that it failed and may decide. */
const isOwnedByNobody = ({ kind }: Input): boolean =>
  kind === "outcome" || kind === "lost" || kind === "deadline";

/** A throw of ours, or data the database does not take. A database that refuses otherwise would refuse every run. */
const isOfTheRun = (error: unknown): boolean => /^2[23]/.test(sqlState(error) ?? "22");

function reject(batch: readonly Input[], error: unknown): void {
  for (const input of batch) input.answer.reject(error);
}

const contended = (cause: unknown): EngineError =>
  new EngineError("RUN_CONTENDED", "Too many writers raced for this run; try again.", {
    retryAfterMs: 100,
    cause,
  });
