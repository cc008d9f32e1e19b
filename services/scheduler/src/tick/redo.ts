// Tries the inputs of a failed tick again. The transaction committed nothing, and the folds of the tick are dropped. The loop tries the
// inputs again while no other tick is under way, and without claims. The class of the failure decides (`platform/src/db/failure.ts`):
//
//   a run or a thread moved on, a deadlock     the same inputs again; after a few times in halves, so that one contended run delays no other
//   a row is locked                the runs whose rows are locked wait aside; the others are tried again
//   a unique index                 repeats of a request are answered; a run with a stray event behind its log goes into quarantine
//   the pauses have changed        the scheduler reads them and tries the same inputs again
//   a workflow has a newer version the starts that assumed otherwise are refused and read it; the others are tried again
//   an assistant was deleted       the same for the starts by assistants
//   data, or our own code          in halves, then one by one; an input that fails alone three times puts its run into quarantine,
//                                  or is refused if its sender waits for the answer
//   anything else (the store)      commands are refused with STORE_UNAVAILABLE; reports of executors are kept and tried again (`store-wait.ts`)

import type { RunId } from "@pawl/core/name/ids";
import { failureKind } from "@pawl/platform/db/failure";
import { PausesMoved, RunMoved, ThreadMoved } from "@pawl/platform/store/tick/journal";
import type { Recovery } from "@pawl/platform/store/recovery/recovery";
import type { KnownPauses } from "../commit/pauses.ts";
import { type MarkRun, strayDetail } from "../inputs/quarantine.ts";
import { type Aside, contended, type Obstacle } from "./aside.ts";
import { ClaimBlame } from "./claim-blame.ts";
import { answerDuplicates } from "./duplicates.ts";
import { byRun, type Inbox } from "../inputs/inbox.ts";
import { isCommand, mustBeKept } from "../inputs/command.ts";
import { type Input, rejectAll, runOf, runsOf } from "../inputs/input.ts";
import { isOutdated, type Outdated, startsOn, without } from "./outdated.ts";
import type { StoreHealth } from "./store-health.ts";
import { StoreWait } from "./store-wait.ts";
import { Tick, type TickParts, type TickReport } from "./tick.ts";

/** How often the loop tries a whole batch of many runs that lost a race. */
const WHOLE_TRIES_MAX = 3;
/** How often the loop tries one run that other schedulers write at the same time. */
const RETRIES_MAX = 50;
/** How often the loop tries a batch if the lock is on no run. Each try waits a quarter of a second for the lock. */
const LOCK_TRIES_MAX = 8;
/** How often the loop tries an input again that fails alone, on a fresh fold each time. */
const FAULT_TRIES_MAX = 2;

/** The wait before the next tick, if a tick fails without an input or a claim. */
const FAULT_PAUSE_MS = 200;

export interface RedoOptions extends TickParts {
  readonly pauses: Pick<KnownPauses, "current" | "reload">;
  readonly recovery: Pick<Recovery, "lockedRuns" | "tornRuns" | "probe">;
  readonly store: StoreHealth;
  readonly onTick: (report: TickReport & { readonly ms: number }) => void;
  /** Another session wrote first or holds a lock. The loop repeats the tick. */
  readonly onConflict: () => void;
  readonly onError: (error: unknown, inputs: readonly Input[]) => void;
  /** The engine failed on an input of this run. */
  readonly onPoisoned?: MarkRun;
}

/** A tick that failed. */
type Failed = Pick<Tick, "inputs" | "runIds" | "claimedRuns">;

/** How often inputs were tried before. */
interface Tries {
  readonly retries: number;
  readonly faults: number;
  /** Set for inputs that waited aside. */
  readonly isAlone?: boolean;
}

const FIRST: Tries = { retries: 0, faults: 0 };

export class Redo {
  readonly #options: RedoOptions;
  readonly #inbox: Inbox;
  readonly #aside: Aside;
  readonly store: StoreWait;
  readonly blame = new ClaimBlame();
  #tick: Tick | undefined;

  constructor(options: RedoOptions, inbox: Inbox, aside: Aside) {
    this.#options = options;
    this.#inbox = inbox;
    this.#aside = aside;
    const { recovery, store } = options;
    this.store = new StoreWait({ recovery, store, inbox, aside });
  }

  /** The tick of the current try, or of the last one. */
  get tick(): Tick | undefined {
    return this.#tick;
  }

  /** A tick was committed. */
  succeeded(report: TickReport): void {
    this.blame.succeeded();
    this.store.succeeded(report);
  }

  /** Deals with the inputs of a tick that failed. */
  async after(error: unknown, failed: Failed, tries = FIRST): Promise<void> {
    if (isOutdated(error)) return await this.#handBack(error, failed.inputs, tries);
    if (error instanceof PausesMoved) return await this.#readPauses(error, failed.inputs, tries);
    if (error instanceof RunMoved || error instanceof ThreadMoved)
      return await this.#raced(error, failed.inputs, tries);
    switch (failureKind(error)) {
      case "contention":
        return await this.#raced(error, failed.inputs, tries);
      case "locked":
        return await this.#locked(error, failed, tries);
      case "duplicate":
        return await this.#refused(error, failed, tries);
      case "store":
        return await this.#wait(error, failed.inputs, tries);
      case "data":
      case "code":
        return await this.#failed(error, failed, tries);
    }
  }

  /** Tries the inputs of a run that waited aside. */
  async alone(inputs: readonly Input[]): Promise<void> {
    if (inputs.length > 0) await this.#again(inputs, { ...FIRST, isAlone: true });
  }

  async #again(inputs: readonly Input[], tries: Tries): Promise<void> {
    // An earlier input may have set a run aside. Inputs about that run stay behind it.
    const batch = this.#aside.divert(inputs);
    if (batch.length === 0) return;
    const began = performance.now();
    const tick = new Tick(this.#options, { claimMax: 0 });
    this.#tick = tick;
    try {
      await tick.take(batch);
      this.#inbox.leave(tick.left);
      const report = await tick.commit();
      this.#options.onTick({ ...report, ms: performance.now() - began });
      this.succeeded(report);
    } catch (error) {
      tick.giveUp();
      await this.after(error, tick, tries);
    }
  }

  async #handBack(error: Outdated, batch: readonly Input[], tries: Tries): Promise<void> {
    const old = startsOn(error, batch);
    rejectAll(old, error);
    await this.#again(without(batch, old), { ...tries, faults: 0 });
  }

  async #readPauses(error: PausesMoved, batch: readonly Input[], tries: Tries): Promise<void> {
    if (tries.retries >= RETRIES_MAX) return this.#handOver(batch, error);
    try {
      await this.#options.pauses.reload();
    } catch (failure) {
      return await this.#wait(failure, batch, tries);
    }
    await this.#again(batch, next(tries));
  }

  /** The pauses change too often. The loop refuses callers and tries the other inputs again later. */
  #handOver(batch: readonly Input[], error: unknown): void {
    for (const input of batch.filter(isCommand))
      input.answer.reject(contended(runOf(input), error));
    this.#inbox.putBack(batch.filter((input) => !isCommand(input)));
  }

  /** Other schedulers wrote first. */
  async #raced(error: unknown, batch: readonly Input[], tries: Tries): Promise<void> {
    this.#options.onConflict();
    const isOne = runsOf(batch).length <= 1;
    if (tries.retries < (isOne ? RETRIES_MAX : WHOLE_TRIES_MAX))
      return await this.#again(batch, next(tries));
    if (!isOne) return await this.#inHalves(batch);
    for (const runId of runsOf(batch)) this.#aside.hold(runId, batch, { error });
  }

  async #locked(error: unknown, failed: Failed, tries: Tries): Promise<void> {
    this.#options.onConflict();
    const { inputs, runIds } = failed;
    const locked = await this.#ask((recovery) => recovery.lockedRuns(runIds));
    if (locked === undefined) return await this.#wait(error, inputs, tries);
    if (locked.length > 0) return await this.#without(locked, failed, { error, locked }, tries);
    // The lock is on something that many runs share.
    if (tries.retries < LOCK_TRIES_MAX) await this.#again(inputs, next(tries));
    else await this.#wait(error, inputs, tries);
  }

  /** A unique index refused something. */
  async #refused(error: unknown, failed: Failed, tries: Tries): Promise<void> {
    this.#options.onConflict();
    const torn = await this.#ask((recovery) => recovery.tornRuns(failed.runIds));
    const answered = await this.#ask(() => answerDuplicates(this.#options.journal, failed.inputs));
    if (torn === undefined || answered === undefined)
      return await this.#wait(error, failed.inputs, tries);
    this.#inbox.push(...answered.later);
    const left = { inputs: answered.now, claimedRuns: failed.claimedRuns };
    for (const { runId, straySeq } of torn)
      void this.#options.onPoisoned?.(runId, {
        reason: "EVENT_LOG_CORRUPTION",
        detail: strayDetail(straySeq),
      });
    const culprits = torn.map(({ runId }) => runId);
    if (culprits.length > 0) await this.#without(culprits, left, { error }, tries);
    else if (left.inputs.length < failed.inputs.length) await this.#again(left.inputs, tries);
    else await this.#failed(error, failed, tries);
  }

  /** Sets the runs at fault aside, and tries the others. */
  async #without(
    culprits: readonly RunId[],
    { inputs, claimedRuns }: Pick<Failed, "inputs" | "claimedRuns">,
    obstacle: Obstacle,
    tries: Tries,
  ): Promise<void> {
    for (const runId of culprits)
      this.#aside.hold(
        runId,
        inputs.filter((input) => runOf(input) === runId),
        obstacle,
      );
    const isAtFault = new Set(culprits);
    const rest = inputs.filter((input) => !isAtFault.has(runOf(input)));
    if (rest.length < inputs.length || claimedRuns.some((runId) => isAtFault.has(runId)))
      return await this.#again(rest, tries);
    // One of these inputs also moves a run at fault: the parent or the child of its own run.
    const runs = runsOf(rest);
    if (runs.length > 1) return await this.#inHalves(rest);
    for (const runId of runs) this.#aside.hold(runId, rest, obstacle);
  }

  /** The store cannot hold one of the inputs or claims, or our own code fails on it. */
  async #failed(error: unknown, { inputs, claimedRuns }: Failed, tries: Tries): Promise<void> {
    this.#options.onError(error, inputs);
    // The fold itself may be wrong or half updated.
    for (const runId of runsOf(inputs)) this.#options.cache.drop(runId);
    if (claimedRuns.length > 0) this.#blameClaim(error, claimedRuns);
    else if (inputs.length === 0) await pause(FAULT_PAUSE_MS);
    const [input] = inputs;
    if (input === undefined) return;
    if (claimedRuns.length > 0) return await this.#again(inputs, tries);
    if (runsOf(inputs).length > 1) return await this.#inHalves(inputs);
    if (inputs.length > 1) for (const each of inputs) await this.#again([each], FIRST);
    else if (tries.faults < FAULT_TRIES_MAX)
      await this.#again(inputs, { ...tries, faults: tries.faults + 1 });
    else this.#giveUp(input, error);
  }

  #blameClaim(error: unknown, claimed: readonly RunId[]): void {
    const runId = this.blame.failed(claimed);
    if (runId === undefined) return;
    const detail = detailOf("a claim", error);
    void this.#options.onPoisoned?.(runId, { reason: "INTERNAL", detail });
    this.#aside.hold(runId, [], { error });
  }

  async #inHalves(batch: readonly Input[]): Promise<void> {
    const runs = [...byRun(batch)];
    const middle = Math.ceil(runs.length / 2);
    await this.#again(runs.slice(0, middle).flat(), FIRST);
    await this.#again(runs.slice(middle).flat(), FIRST);
  }

  /** Gives up an input. A result is never dropped: its run goes into quarantine, and the quarantine answers the result. */
  #giveUp(input: Input, error: unknown): void {
    const runId = runOf(input);
    if (mustBeKept(input)) {
      const detail = detailOf(input.kind, error);
      void this.#options.onPoisoned?.(runId, { reason: "INTERNAL", detail });
    }
    if (input.kind === "outcome") this.#aside.hold(runId, [input], { error });
    else rejectAll([input], error);
  }

  /** The store does not accept the commit. */
  async #wait(error: unknown, batch: readonly Input[], tries: Tries): Promise<void> {
    await this.store.after(error, batch, { isAlone: tries.isAlone === true });
  }

  /** Runs a query. Undefined if the store does not answer. */
  async #ask<T>(
    question: (recovery: RedoOptions["recovery"]) => Promise<T>,
  ): Promise<T | undefined> {
    try {
      return await question(this.#options.recovery);
    } catch {
      return undefined;
    }
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const next = (tries: Tries): Tries => ({ ...tries, retries: tries.retries + 1, faults: 0 });

const detailOf = (what: string, error: unknown): string =>
  `the engine failed on ${what}: ${error instanceof Error ? error.message : String(error)}`;
