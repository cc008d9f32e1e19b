// Everything that one tick is about to commit. The draft applies facts to the cached folds at once, so the planner sees them. When the
// transaction fails, the tick drops the folds it touched, and the cache reads them again.
//
// Seqs are provisional here. Stream deltas advance a run's last seq without a new version, so only the database knows the real seqs. They
// differ by one offset per run, and `settleSeqs` adds it after the commit.

import { LIMITS } from "@pawl/core/data/limits";
import { type Fact, isFinal } from "@pawl/core/log/event";
import { executionAt } from "@pawl/core/log/execution";
import { apply } from "@pawl/core/log/fold";
import { isSettlingType } from "@pawl/core/log/meaning";
import type { AcceptedStart } from "@pawl/core/log/start";
import { isUndo } from "@pawl/core/log/undo-iteration";
import type { RunId } from "@pawl/core/name/ids";
import { beforeFact, type Consequence, consequences } from "@pawl/core/plan/consequences";
import type { InlineBudget } from "@pawl/core/plan/inline";
import type { PriceOf } from "@pawl/core/policy/price";
import { planToFixpoint } from "@pawl/core/plan/plan";
import type { Raise } from "@pawl/core/plan/raise";
import { probe } from "@pawl/platform/lifecycle/probe";
import type { DroppedJob, NewJob } from "@pawl/platform/queue/queue";
import type { ClosedApproval, NewApproval } from "@pawl/platform/store/approvals/approvals";
import type { NewDeadLetter } from "@pawl/platform/store/dead-letters/dead-letters";
import type { TestGraph } from "@pawl/platform/store/runs/runs";
import type { NewWait, WaitKey } from "@pawl/platform/store/signals/signals";
import type { PauseView } from "./pauses.ts";
import { type CachedRun, FACT_BYTES } from "./cache.ts";
import { SlotChanges } from "./slots.ts";
import { payloadFault } from "../inputs/response.ts";
import { Fenced } from "./fenced.ts";
import { follow } from "./follow.ts";
import { ThreadBook } from "./threads.ts";
import {
  executionKey,
  jobKeysOf,
  record,
  shiftCauses,
  type ClosedClaim,
  type Execution,
  type HandOff,
  type Opened,
  type RunDraft,
} from "./run-draft.ts";

/**
 * A tick with this many events takes no further run. Every run of the tick waits for the commit, and a commit costs the same for two
 * thousand events as for ten. Without this bound, a hundred maps of a thousand items made one tick of four to seventeen seconds.
 */
const EVENTS_ENOUGH = 2_000;

export interface DraftOptions {
  /** Whether the scheduler completes glue nodes itself. */
  readonly completesGlue: boolean;
  /** The prices by which the planner reserves the cost of models. */
  readonly priceOf?: PriceOf;
}

export class Draft {
  readonly now: number;
  /** The pauses that the tick decides under. The commit proves them if `assumesPauses` is set. */
  readonly pauses: PauseView;
  /** How many events it sends to receivers of webhooks. */
  postCount = 0;
  /** Whether the draft would be wrong under other pauses. It is set if the draft starts, claims or resumes something. */
  assumesPauses = false;
  readonly #runs = new Map<RunId, RunDraft>();
  /** Runs that got facts since they were last planned. */
  readonly #unplanned = new Set<CachedRun>();
  #eventCount = 0;
  #claimCount = 0;
  readonly #reserved: HandOff[] = [];
  /** Executions queued by this draft and not placed yet. */
  readonly ready: Execution[] = [];
  readonly closed: ClosedClaim[] = [];
  /** Child runs whose parent this draft cancelled. The draft has yet to cancel them. */
  readonly orphans: Extract<Consequence, { kind: "cancel_child" }>[] = [];
  /** Child runs that ended in this draft. The draft has yet to advance their parents. */
  readonly endedChildren: CachedRun[] = [];
  /** Raised child runs. The draft has yet to raise their parents. */
  readonly raised: { readonly run: CachedRun; readonly raise: Raise }[] = [];
  /** Runs that ended in this draft and have yet to leave their threads. Runs that ask for theirs again, or offer them to others. */
  readonly leavers: CachedRun[] = [];
  readonly askers: CachedRun[] = [];
  /** The threads that the tick decides about. */
  readonly threads: ThreadBook;
  readonly fenced = new Fenced();
  readonly jobs: NewJob[] = [];
  /** The graphs of test runs that start. */
  readonly testGraphs: TestGraph[] = [];
  readonly slots = new SlotChanges();
  /** Approvals that this draft opens and closes. */
  readonly approvals = { opened: [] as NewApproval[], closed: [] as ClosedApproval[] };
  /** Waits for signals that this draft opens and closes. */
  readonly waits = { opened: [] as NewWait[], closed: [] as WaitKey[] };
  /** Executions that lost too many executors. */
  readonly buried: NewDeadLetter[] = [];
  /** Jobs of executions that no executor will claim. */
  readonly droppedJobs: DroppedJob[] = [];

  /** The budget for glue nodes that the scheduler may still complete in this tick. */
  readonly inline: InlineBudget;

  constructor(
    now: number,
    pauses: PauseView,
    { completesGlue, priceOf }: DraftOptions,
    threads = new ThreadBook(),
  ) {
    this.now = now;
    this.threads = threads;
    this.pauses = pauses;
    this.inline = {
      priceOf,
      mayComplete: (type) => completesGlue && !pauses.isQueuePaused(type),
      checkPayload: payloadFault,
      bytes: LIMITS.inlineBytes,
    };
  }

  get runs(): readonly CachedRun[] {
    return [...this.#runs.values()].map((draft) => draft.run);
  }

  /** The drafts of the single runs. */
  get ofRuns(): readonly RunDraft[] {
    return [...this.#runs.values()];
  }

  /** Whether the draft advances the run. */
  has(runId: RunId): boolean {
    return this.#runs.has(runId);
  }

  /** Whether the draft writes anything about the run. Stream deltas and effects count. */
  concerns(runId: RunId): boolean {
    return this.#runs.has(runId) || this.fenced.has(runId);
  }

  /** The run with its drafted facts, if the draft touched it. */
  run(runId: RunId): CachedRun | undefined {
    return this.#runs.get(runId)?.run;
  }

  /** Whether a temporary run ended. */
  get endsTemporary(): boolean {
    return this.runs.some(({ state }) => state.kind === "temporary" && isFinal(state.status));
  }

  get isEmpty(): boolean {
    return this.#runs.size === 0 && this.fenced.isEmpty;
  }

  /** Whether the tick should take no further run: it has enough to write, or its budget for glue nodes is spent. */
  get isEnough(): boolean {
    return this.#eventCount >= EVENTS_ENOUGH || this.inline.bytes <= 0;
  }

  get eventCount(): number {
    return this.#eventCount;
  }

  get claimCount(): number {
    return this.#claimCount;
  }

  /** The last seq that the log of a new run will have. */
  lengthOf(runId: RunId): number {
    return this.#runs.get(runId)?.facts.length ?? 0;
  }

  /** Plans every run that was appended to, until nothing more follows. */
  plan(): void {
    for (const run of this.#unplanned) this.planRun(run);
  }

  planRun(run: CachedRun): void {
    const { bytes } = this.inline;
    planToFixpoint(run.state, this.now, (fact) => this.append(run, fact), this.inline);
    // The scheduler may not complete a glue node of a paused queue, so the commit proves that the queue is not paused.
    if (this.inline.bytes < bytes) this.assumesPauses = true;
    this.#unplanned.delete(run);
  }

  /** Every drafted fact with its run. */
  *facts(): Generator<{ readonly run: CachedRun; readonly fact: Fact }> {
    for (const { run, facts } of this.#runs.values()) for (const fact of facts) yield { run, fact };
  }

  /** Claims whose assignments the tick sends after the commit. */
  get handOffs(): Opened[] {
    return [...this.#runs.values()].flatMap(({ opened }) => [...opened.values()]);
  }

  begin(run: CachedRun, start: AcceptedStart): void {
    this.assumesPauses = true;
    this.#runs.set(run.state.runId, {
      run,
      start,
      committedSeq: 0,
      deadlineAt: start.deadlineAt,
      facts: [],
      opened: new Map(),
    });
  }

  /** Gives the run a new version, with or without a fact. */
  touch(run: CachedRun): void {
    this.#draftOf(run);
  }

  /** Records a fact, folds it, and drafts its consequences. */
  append(run: CachedRun, fact: Fact): void {
    const { state } = run;
    const { iteration } = fact;
    const draft = this.#draftOf(run);
    if (fact.type === "node.invalidated") probe("tick.round-ends");
    if (fact.type === "run.status.changed" && fact.payload.ending) probe("tick.undo-begins");
    if (isUndo(iteration) && isSettlingType(fact.type)) probe("tick.undone");
    const before = beforeFact(state, fact);
    const seq = state.lastSeq + 1;
    const epoch = fact.type === "node.started" ? seq : fact.epoch;
    record(draft, fact);
    this.#eventCount += 1;
    this.#unplanned.add(run);
    run.bytes += FACT_BYTES + (fact.value?.length ?? 0);
    // The spread keeps the fact's own type. Only its position is added.
    apply(state, { ...fact, epoch, seq, at: this.now });
    for (const each of consequences(before, fact, state)) follow(this, draft, fact, each);
  }

  /** Drops the jobs of queued executions that no executor may claim. */
  dropJobs(run: CachedRun, executions: readonly Omit<Execution, "run">[]): void {
    for (const { nodeIndex, iteration } of executions)
      this.droppedJobs.push(...jobKeysOf({ run, nodeIndex, iteration }));
  }

  /** Places queued executions without a job, together with those that this draft makes ready. */
  placeAgain(run: CachedRun, executions: readonly Omit<Execution, "run">[]): void {
    for (const execution of executions) this.ready.push({ run, ...execution });
  }

  /** Drafts the claim of a node by an executor connected here. */
  handOff(handOff: HandOff, fact: Extract<Fact, { type: "node.started" }>): void {
    this.assumesPauses = true;
    const { run, nodeIndex, iteration } = handOff;
    const draft = this.#draftOf(run);
    const wasClaimed = (executionAt(run.state, nodeIndex, iteration)?.epoch ?? 0) > 0;
    this.append(run, fact);
    this.#claimCount += 1;
    handOff.executor.reserve(handOff.bytes);
    const factIndex = draft.facts.length - 1;
    const opened = { ...handOff, factIndex, wasClaimed, firstDeltaIndex: 0 };
    draft.opened.set(executionKey(nodeIndex, iteration), opened);
    this.#reserved.push(opened);
  }

  /** Sets the real seqs and epochs after the commit, and the new version of each run. */
  settleSeqs(lastSeqs: ReadonlyMap<RunId, number>): void {
    for (const draft of this.#runs.values()) {
      const { run, start, opened } = draft;
      if (start !== undefined) {
        run.version = 1;
        continue;
      }
      run.version += 1;
      const { runId, lastSeq } = run.state;
      const offset = (lastSeqs.get(runId) ?? lastSeq) - lastSeq;
      if (offset === 0) continue;
      run.state.lastSeq += offset;
      shiftCauses(draft, offset);
      for (const { nodeIndex, iteration } of opened.values()) {
        const execution = executionAt(run.state, nodeIndex, iteration);
        if (execution !== undefined) execution.epoch += offset;
      }
    }
  }

  /** Frees the room reserved for hand-offs. The executors hold the tasks by now, or will never get them. */
  freeReserved(): void {
    for (const { executor, bytes } of this.#reserved.splice(0)) executor.unreserve(bytes);
  }

  #draftOf(run: CachedRun): RunDraft {
    let draft = this.#runs.get(run.state.runId);
    if (draft === undefined) {
      const { lastSeq: committedSeq, deadlineAt } = run.state;
      const nothing = { start: undefined, facts: [], opened: new Map() };
      draft = { run, committedSeq, deadlineAt, ...nothing };
      this.#runs.set(run.state.runId, draft);
    }
    return draft;
  }
}
