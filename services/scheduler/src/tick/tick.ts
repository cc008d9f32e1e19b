// The tick: one transaction for everything that arrived, for all runs of the batch. It reads top to bottom as
//   fence, settle, plan, place, offer, (claim,) commit, tell.
//
// A tick may be drafted while the one below it is being committed, on the folds as that one leaves them. What it says to anybody waits
// for both commits, but for offers: claims of tasks that may begin before they are there to stay (ADR 33), and are withdrawn when not.
//
// The races it survives: another scheduler decides about the same run at the same time. Both plan on the version they know;
// the compare-and-swap lets one commit and fails the other's whole transaction (RunMoved), which drops its folds and begins
// again, and so does what was drafted on them. Another scheduler pauses a workflow or a queue: what was started or claimed on the
// pauses before fails the same way (PausesMoved). A refusal is not fenced by anything, so an input that looks stale is judged again on
// a fresh fold first. Partial output moves a run's seqs while a tick below is on its way: where nothing proves what they will be,
// inputs about the run wait for the next tick.

import type { RunId } from "@pawl/core/name/ids";
import { probe } from "@pawl/platform/lifecycle/probe";
import type { Journal } from "@pawl/platform/store/journal";
import { type NewJob, RATE_SLOTS } from "@pawl/platform/queue/queue";
import type { PauseView } from "../pause/pause-view.ts";
import type { Roster } from "../work/roster.ts";
import type { CachedRun, RunCache } from "./cache.ts";
import { followLinks } from "./child.ts";
import { claimableTypes } from "./claim.ts";
import { countFacts } from "./count.ts";
import type { Definitions } from "./definitions.ts";
import { Draft } from "./draft.ts";
import { type Input, runOf } from "./input.ts";
import { Offers } from "./offers.ts";
import { place } from "./place.ts";
import type { Reply } from "./settle.ts";
import { EVENTS_ENOUGH, type Ground, settleAll } from "./settle-all.ts";
import { hasGates, send } from "./send.ts";
import { tell } from "./tell.ts";
import type { Waiting } from "./waiting.ts";

export interface TickParts {
  readonly journal: Journal;
  readonly cache: RunCache;
  readonly definitions: Definitions;
  readonly roster: Roster;
  readonly waiting: Waiting;
  readonly pauses: { readonly current: PauseView };
  /** Which runs wait by themselves: nothing of them is claimed. */
  readonly aside: { has(runId: RunId): boolean };
  /** The database's clock, for everything that is planned for a time. */
  readonly now: () => number;
}

/** What a tick did. */
export interface TickReport {
  readonly batchSize: number;
  readonly eventCount: number;
  readonly claimCount: number;
  /** The soonest deadline of the approvals it opened, where one has any. */
  readonly approvalDueMs: number | undefined;
  /** Whether the store was asked to write anything. */
  readonly hasWritten: boolean;
}

export interface TickOptions {
  /** The tick that is being committed meanwhile. */
  readonly below?: Tick | undefined;
  /** Whether tasks that allow it may begin before the commit. */
  readonly mayOffer: boolean;
  /** How many jobs it may claim of each type. */
  readonly claimMax: number;
}

export class Tick {
  readonly #parts: TickParts;
  #below: Tick | undefined;
  #above: Tick | undefined;
  readonly #draft: Draft;
  readonly #claims: Draft;
  readonly #offers: Offers;
  readonly #ground: Ground;
  readonly #claimMax: number;
  #inputs: readonly Input[] = [];
  readonly #left: Input[] = [];
  readonly #leftRuns = new Set<RunId>();
  readonly #replies: Reply[] = [];
  readonly #over = Promise.withResolvers<void>();
  #isOver = false;

  constructor(parts: TickParts, { below, mayOffer, claimMax }: TickOptions) {
    this.#parts = parts;
    this.#claimMax = claimMax;
    this.#below = below;
    if (below !== undefined) below.#above = this;
    // One reading for all of it: the commit proves that it was the current one.
    const { current: pauses } = parts.pauses;
    this.#draft = new Draft(parts.now(), pauses, { mayOffer });
    this.#claims = new Draft(this.#draft.now, pauses, { mayOffer: false });
    this.#offers = new Offers();
    this.#ground = {
      cache: parts.cache,
      definitions: parts.definitions,
      find: (runId) => this.#find(runId),
      isFresh: (runId) => this.has(runId) || this.#underWay?.has(runId) === true,
      mustWait: (runId) => this.#leftRuns.has(runId) || this.#isUncertain(runId),
    };
  }

  /** What it has taken so far. */
  get inputs(): readonly Input[] {
    return this.#inputs;
  }

  /** Every run it is about. */
  get runIds(): readonly RunId[] {
    return [...new Set([...this.#inputs.map(runOf), ...this.#runs.map(idOf)])];
  }

  /** Those of them of which it claimed jobs. */
  get claimedRuns(): readonly RunId[] {
    return [...new Set(this.#claims.runs.map(idOf))];
  }

  /** Inputs that it was given and has not tried: they are for another tick. */
  get left(): readonly Input[] {
    return this.#left;
  }

  /** Whether there is enough to write. Slots are asked for once, for everything that moved before. */
  get isFull(): boolean {
    return this.#draft.eventCount >= EVENTS_ENOUGH || !this.#draft.gates.isEmpty;
  }

  /** Whether executors still have something to say of what it offers. */
  get isAwaiting(): boolean {
    return this.#offers.areAwaited;
  }

  /** Settles when it is committed or given up. */
  get over(): Promise<void> {
    return this.#over.promise;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether it has drafted something about the run. */
  has(runId: RunId): boolean {
    return this.#draft.has(runId) || this.#claims.has(runId);
  }

  /** Drafts what follows from inputs; may be called again until it is committed. @throws whatever made that fail: give it up then */
  async take(inputs: readonly Input[]): Promise<void> {
    const { cache, roster, waiting } = this.#parts;
    const draft = this.#draft;
    this.#inputs = [...this.#inputs, ...inputs];
    const { replies, left } = await settleAll(this.#ground, draft, inputs);
    if (left.length > 0) this.#leave(left);
    this.#replies.push(...replies);
    if (draft.orphans.length > 0 || draft.endedChildren.length > 0) {
      // Links lead to any run, also to one that the tick below is about to move.
      await this.#underWay?.over;
      await followLinks(cache, draft);
    }
    place(draft, roster, waiting);
    this.#offers.make(draft);
  }

  #leave(left: readonly Input[]): void {
    const isLeft = new Set(left);
    this.#inputs = this.#inputs.filter((input) => !isLeft.has(input));
    this.#left.push(...left);
    for (const input of left) this.#leftRuns.add(runOf(input));
  }

  /**
   * Whether its commit reads nothing that changes folds: then the next may be drafted meanwhile. What comes out of a queue does.
   */
  get isDecided(): boolean {
    const { waiting } = this.#parts;
    return this.#claimable.length === 0 && !hasGates(waiting, this.#draft, this.#claims);
  }

  /** Commits everything; `onWritten` is called once nothing more is read off the folds. @throws whatever made the transaction fail */
  async commit(onWritten: () => void = () => {}): Promise<TickReport> {
    const { cache, roster, waiting, journal } = this.#parts;
    const draft = this.#draft;
    const claims = this.#claims;
    const claimable = this.#claimable;
    let hasWritten = false;
    try {
      if (!draft.isEmpty || claimable.length > 0 || waiting.mayWait(RATE_SLOTS)) {
        const sent = await journal.transact(async (tx) => {
          const claimMax = this.#claimMax;
          const sending = send(this.#parts, tx, { draft, claims, claimable, claimMax });
          onWritten();
          return await sending;
        });
        (sent.claimed === undefined ? draft : claims).settleSeqs(await sent.lastSeqs);
        hasWritten = true;
        probe("tick.after-commit");
      }
      onWritten();
      const isFresh = (runId: RunId): boolean => draft.has(runId) || this.#isAbove(runId);
      this.#replies.push(...(await draft.fenced.replies(cache, isFresh)));
      this.#offers.stand();
      // What the next tick has moved on is kept by that one.
      for (const run of this.#runs)
        if (!this.#isAbove(run.state.runId)) cache.keepLive(run, draft.now);
      this.#expectDelayed();
      countFacts(draft);
      countFacts(claims);
      tell(roster, draft);
      tell(roster, claims);
      probe("tick.before-reply");
      for (const reply of this.#replies) reply();
      return {
        batchSize: this.#inputs.length,
        eventCount: draft.eventCount + claims.eventCount,
        claimCount: draft.claimCount + claims.claimCount,
        approvalDueMs: soonest(draft),
        hasWritten,
      };
    } catch (error) {
      // What was fetched is back in its queues, and nobody else would say so.
      for (const type of claimable) waiting.enqueued(type);
      this.giveUp();
      throw error;
    } finally {
      this.#end();
    }
  }

  /** Nothing of it comes true; its inputs are to be taken by others. */
  giveUp(): void {
    for (const run of this.#runs) this.#parts.cache.drop(run.state.runId);
    this.#offers.withdraw();
    this.#end();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    // Or each would keep the one below it, back to the first.
    this.#below = undefined;
    this.#above = undefined;
    this.#draft.freeReserved();
    this.#claims.freeReserved();
    this.#over.resolve();
  }

  get #runs(): readonly CachedRun[] {
    return [...this.#draft.runs, ...this.#claims.runs];
  }

  get #underWay(): Tick | undefined {
    return this.#below?.isOver === false ? this.#below : undefined;
  }

  #isAbove(runId: RunId): boolean {
    return this.#above?.isOver === false && this.#above.has(runId);
  }

  #find(runId: RunId): CachedRun | undefined {
    const below = this.#underWay;
    const drafted = this.#draft.run(runId) ?? (below && below.#draft.run(runId));
    return drafted ?? this.#parts.cache.get(runId);
  }

  /** Whether the tick below moves the run to seqs that only its commit will tell. */
  #isUncertain(runId: RunId): boolean {
    const below = this.#underWay;
    return below !== undefined && below.has(runId) && !below.#draft.isExact(runId);
  }

  get #claimable(): readonly string[] {
    const { waiting, roster } = this.#parts;
    if (this.#claimMax === 0) return [];
    return claimableTypes({ waiting, roster, pauses: { current: this.#draft.pauses } });
  }

  /**
   * Notes when delayed jobs are due. The database counts a delay from the beginning of the transaction, so counting from after
   * the commit is never early: a fetch that came too early would find nothing, and nobody would look again for a while.
   */
  #expectDelayed(): void {
    const { waiting } = this.#parts;
    const jobs: readonly NewJob[] = [...this.#draft.jobs, ...this.#claims.jobs];
    for (const { nodeType, delayMs } of jobs)
      if (delayMs !== undefined) waiting.enqueued(nodeType, delayMs);
  }
}

const idOf = ({ state: { runId } }: CachedRun): RunId => runId;

function soonest({ approvals }: Draft): number | undefined {
  const all = approvals.opened.flatMap(({ deadlineMs }) => deadlineMs ?? []);
  return all.length === 0 ? undefined : Math.min(...all);
}
