// What follows when a tick fails. Nothing of it came true, its folds are dropped and its offers withdrawn; its inputs are tried again,
// alone on the store and without offers.
//
//   a run moved on, a deadlock, a unique key   the same inputs again, a bounded number of times
//   the pauses have changed                    they are read again; the same inputs again, a bounded number of times
//   a workflow has a newer version             the starts that assumed otherwise are handed back; the rest goes on
//   the database is away                       commands are told so; what executors said is kept and offered again
//   anything else (a bug)                      inputs are tried one by one, so that one poisoned run stops no other; one that
//                                              goes on failing puts its run into quarantine, unless somebody waits for its answer

import { EngineError } from "@pawl/core/fault/engine-error";
import { isContention, isUniqueViolation, sqlState } from "@pawl/platform/db/failure";
import { PausesMoved, RunMoved, WorkflowMoved } from "@pawl/platform/store/journal";
import type { KnownPauses } from "../pause/known-pauses.ts";
import type { MarkRun } from "../recover/quarantine.ts";
import { answerDuplicates } from "./duplicates.ts";
import type { Inbox } from "./inbox.ts";
import { type Input, runOf } from "./input.ts";
import { Tick, type TickParts, type TickReport } from "./tick.ts";

const RETRIES_MAX = 50;
/** How often an input that fails alone is tried again, on a fresh fold each time. */
const FAULT_TRIES_MAX = 2;
const AWAY_PAUSE_MS = 200;

/** Inputs whose sender waits for the answer, and may say them again. */
const COMMANDS: ReadonlySet<Input["kind"]> = new Set([
  "start",
  "cancel",
  "decide",
  "pause",
  "resume",
]);

export interface RedoOptions extends TickParts {
  readonly pauses: Pick<KnownPauses, "current" | "reload">;
  readonly onTick: (report: TickReport & { readonly ms: number }) => void;
  /** A compare-and-swap was lost, or a lock; the tick is done again. */
  readonly onConflict: () => void;
  readonly onError: (error: unknown, inputs: readonly Input[]) => void;
  /** The engine fails on what happened to this run. */
  readonly onPoisoned?: MarkRun;
}

/** How often inputs were tried before. */
interface Tries {
  readonly retries: number;
  readonly faults: number;
}

const FIRST: Tries = { retries: 0, faults: 0 };

export class Redo {
  readonly #options: RedoOptions;
  readonly #inbox: Inbox;

  constructor(options: RedoOptions, inbox: Inbox) {
    this.#options = options;
    this.#inbox = inbox;
  }

  /** Deals with the inputs of a tick that failed. */
  async after(error: unknown, batch: readonly Input[], tries = FIRST): Promise<void> {
    const { retries, faults } = tries;
    const more = { retries: retries + 1, faults: 0 };
    if (error instanceof RunMoved || isContention(error) || isUniqueViolation(error)) {
      this.#options.onConflict();
      if (retries >= RETRIES_MAX) return reject(batch, contended(error));
      const rest = await this.#withoutDuplicates(batch, error);
      if (rest !== undefined) await this.#again(rest, more);
      return;
    }
    if (error instanceof PausesMoved) {
      if (retries >= RETRIES_MAX) return reject(batch, contended(error));
      if (await this.#readPauses(batch)) await this.#again(batch, more);
      return;
    }
    if (error instanceof WorkflowMoved) {
      const assumed = (input: Input): boolean => input.kind === "start" && input.assumesNewest;
      reject(batch.filter(assumed), error);
      const rest = batch.filter((input) => !assumed(input));
      await this.#again(rest, { retries, faults: 0 });
      return;
    }
    if (error instanceof EngineError && error.reason === "STORE_UNAVAILABLE") {
      await this.#waitForStore(batch, error);
      return;
    }
    this.#options.onError(error, batch);
    const [input, ...others] = batch;
    if (input === undefined) await pause();
    else if (others.length > 0)
      for (const each of batch) await this.#again([each], { retries, faults: 0 });
    else if (faults < FAULT_TRIES_MAX) await this.#again(batch, { retries, faults: faults + 1 });
    else this.#giveUp(input, error);
  }

  async #again(batch: readonly Input[], tries: Tries): Promise<void> {
    const began = performance.now();
    const tick = new Tick(this.#options, { mayOffer: false });
    try {
      await tick.take(batch);
      this.#inbox.leave(tick.left);
      const report = await tick.commit();
      this.#options.onTick({ ...report, ms: performance.now() - began });
    } catch (error) {
      tick.giveUp();
      await this.after(error, tick.inputs, tries);
    }
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
