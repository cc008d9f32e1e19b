// What one tick is about to commit. The draft applies facts to the cached folds at once, so that the planner sees them. When the
// transaction fails, the tick drops the folds it touched, and the cache reads them again.
//
// Seqs are provisional here: partial output moves a run's last seq without a new version, so only the database knows the
// real seqs. They differ by one offset per run, which `settleSeqs` adds after the commit.

import { LIMITS } from "@pawl/core/data/limits";
import { withCause } from "@pawl/core/log/cause";
import { isSettled, isTerminalType, type Fact } from "@pawl/core/log/event";
import { executionAt } from "@pawl/core/log/execution";
import { apply } from "@pawl/core/log/fold";
import type { RunId } from "@pawl/core/name/ids";
import type { InlineBudget } from "@pawl/core/plan/inline";
import { planToFixpoint } from "@pawl/core/plan/plan";
import type { DroppedJob, NewJob } from "@pawl/platform/queue/queue";
import type { NewDeadLetter } from "@pawl/platform/store/dead-letters/dead-letters";
import { type ApprovalDraft, noteHold } from "./approval-draft.ts";
import type { PauseView } from "./pause-view.ts";
import { type CachedRun, FACT_BYTES } from "./cache.ts";
import { SlotChanges, isLimited } from "./slots.ts";
import { Fenced } from "./fenced.ts";
import type { StartInput } from "../inputs/input.ts";
import {
  executionKey,
  isTakenAway,
  jobKeysOf,
  shiftCauses,
  type ClosedClaim,
  type Execution,
  type HandOff,
  type Opened,
  type RunDraft,
} from "./run-draft.ts";

/**
 * A tick that has this much to write takes no further run: every run of the tick waits for its commit, and a commit costs the same for
 * two thousand events as for ten. Without this bound, a hundred maps of a thousand items made one tick of four to seventeen seconds.
 */
const EVENTS_ENOUGH = 2_000;

export interface DraftOptions {
  /** Whether the scheduler completes glue nodes itself. */
  readonly completesGlue: boolean;
}

export class Draft {
  readonly #now: number;
  /** The pauses that it decides under; its commit proves them where `assumesPauses` is set. */
  readonly pauses: PauseView;
  #assumesPauses = false;
  readonly #runs = new Map<RunId, RunDraft>();
  /** Runs that were appended to since they were last planned. */
  readonly #unplanned = new Set<CachedRun>();
  #eventCount = 0;
  #claimCount = 0;
  readonly #reserved: HandOff[] = [];
  /** Executions queued by this draft and not placed yet. */
  readonly ready: Execution[] = [];
  readonly closed: ClosedClaim[] = [];
  /** Child runs whose parent was cancelled by this draft, and not followed yet. */
  readonly orphans: { readonly runId: RunId; readonly reason: string }[] = [];
  /** Child runs that ended in this draft, and not followed yet. */
  readonly endedChildren: CachedRun[] = [];
  readonly fenced = new Fenced();
  readonly jobs: NewJob[] = [];
  readonly slots = new SlotChanges();
  /** Questions to people that this draft asks and ends. */
  readonly approvals: ApprovalDraft = { opened: [], closed: [] };
  /** Executions that lost too many executors. */
  readonly buried: NewDeadLetter[] = [];
  /** Jobs of executions that will not be claimed any more. */
  readonly droppedJobs: DroppedJob[] = [];

  /** The glue nodes that it may still complete itself. */
  readonly inline: InlineBudget;

  constructor(now: number, pauses: PauseView, { completesGlue }: DraftOptions) {
    this.#now = now;
    this.pauses = pauses;
    this.inline = {
      mayComplete: (type) => completesGlue && !pauses.isQueuePaused(type),
      bytes: LIMITS.inlineBytes,
    };
  }

  get now(): number {
    return this.#now;
  }

  get runs(): readonly CachedRun[] {
    return [...this.#runs.values()].map((draft) => draft.run);
  }

  /** What is drafted of each run. */
  get ofRuns(): readonly RunDraft[] {
    return [...this.#runs.values()];
  }

  /** Whether it has moved the run. */
  has(runId: RunId): boolean {
    return this.#runs.has(runId);
  }

  /** Whether it writes anything of the run, partial output and effects included. */
  concerns(runId: RunId): boolean {
    return this.#runs.has(runId) || this.fenced.has(runId);
  }

  /** The run as drafted here, if it was touched. */
  run(runId: RunId): CachedRun | undefined {
    return this.#runs.get(runId)?.run;
  }

  get isEmpty(): boolean {
    return this.#runs.size === 0 && this.fenced.isEmpty;
  }

  /** Whether it should take no further run: it has enough to write, or has spent its budget for glue nodes. */
  get isEnough(): boolean {
    return this.#eventCount >= EVENTS_ENOUGH || this.inline.bytes <= 0;
  }

  get eventCount(): number {
    return this.#eventCount;
  }

  get claimCount(): number {
    return this.#claimCount;
  }

  /** How far the log of a new run will reach. */
  lengthOf(runId: RunId): number {
    return this.#runs.get(runId)?.facts.length ?? 0;
  }

  /** Plans every run that was appended to, until nothing more follows. */
  plan(): void {
    for (const run of this.#unplanned) this.planRun(run);
  }

  planRun(run: CachedRun): void {
    const { bytes } = this.inline;
    planToFixpoint(run.state, this.#now, (fact) => this.append(run, fact), this.inline);
    // A glue node of a paused queue may not be completed, so the commit proves that its queue is not paused.
    if (this.inline.bytes < bytes) this.#assumesPauses = true;
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

  /** Whether it would be wrong under other pauses: it starts or claims something, or resumes a run. */
  get assumesPauses(): boolean {
    return this.#assumesPauses;
  }

  assumePauses(): void {
    this.#assumesPauses = true;
  }

  begin(run: CachedRun, start: StartInput): void {
    this.#assumesPauses = true;
    this.#runs.set(run.state.runId, {
      run,
      start,
      committedSeq: 0,
      deadlineAt: start.deadlineAt,
      facts: [],
      opened: new Map(),
    });
  }

  /** Gives the run a new version, whether or not a fact follows. */
  touch(run: CachedRun): void {
    this.#draftOf(run);
  }

  /** Drafts a fact and applies it to the run's fold. */
  append(run: CachedRun, fact: Fact): void {
    const { state } = run;
    const draft = this.#draftOf(run);
    const nodeIndex = fact.nodeId === "" ? undefined : state.graph.indexOf.get(fact.nodeId);
    const { iteration } = fact;
    const before = nodeIndex === undefined ? undefined : executionAt(state, nodeIndex, iteration);
    const held = before?.hold;
    const wasRunning = before?.status === "running" ? before.epoch : undefined;
    // What this draft queued itself has no job yet.
    const limitedStatus = before !== undefined && isLimited(before) ? before.status : undefined;
    const wasAdmitted = state.isAdmitted;
    const hadJob = before?.status === "queued" && before.causeSeq <= draft.committedSeq;
    if (fact.type === "node.cancelled" && before?.childRunId !== undefined)
      this.orphans.push({ runId: before.childRunId, reason: fact.payload.reason });
    const seq = state.lastSeq + 1;
    const epoch = fact.type === "node.started" ? seq : fact.epoch;
    draft.facts.push(withCause(state, fact, draft.committedSeq));
    this.#eventCount += 1;
    this.#unplanned.add(run);
    run.bytes += FACT_BYTES + (fact.value?.length ?? 0);
    // The spread keeps the fact's own type; only its position is added.
    apply(state, { ...fact, epoch, seq, at: this.#now });
    if (state.parent !== undefined && isTerminalType(fact.type)) this.endedChildren.push(run);
    if (nodeIndex === undefined || fact.nodeId === "") {
      if (isLimited(state)) this.#moveRunGate(run, fact, wasAdmitted);
      return;
    }
    if (limitedStatus !== undefined && before !== undefined)
      this.slots.moved(run, fact.nodeId, iteration, { before: limitedStatus, after: before });
    noteHold(this.approvals, { runId: state.runId, nodeId: fact.nodeId }, { held, fact });
    if (wasRunning !== undefined && before?.status !== "running")
      this.closed.push({
        runId: state.runId,
        nodeId: fact.nodeId,
        iteration,
        epoch: wasRunning,
        isLost: isTakenAway(fact),
        isUnwritten: draft.opened.delete(executionKey(nodeIndex, iteration)),
      });
    if (hadJob && isSettled(before.status)) this.dropJobs(run, [{ nodeIndex, iteration }]);
    if (fact.type === "node.queued") this.ready.push({ run, nodeIndex, iteration });
  }

  /** Queued executions that nobody is to claim: their jobs go with this draft. What it queued itself has none yet. */
  dropJobs(run: CachedRun, executions: readonly Omit<Execution, "run">[]): void {
    for (const { nodeIndex, iteration } of executions)
      this.droppedJobs.push(...jobKeysOf({ run, nodeIndex, iteration }));
  }

  /** Queued executions that have no job: they are placed with what this draft makes ready. */
  placeAgain(run: CachedRun, executions: readonly Omit<Execution, "run">[]): void {
    for (const execution of executions) this.ready.push({ run, ...execution });
  }

  /** Drafts the claim of a node by an executor connected here. */
  handOff(handOff: HandOff, fact: Extract<Fact, { type: "node.started" }>): void {
    this.#assumesPauses = true;
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

  /** After the commit: real seqs and epochs, and the version each run has now. */
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

  /** Frees the room that it reserved for hand-offs: executors hold the tasks by now, or never will. */
  freeReserved(): void {
    for (const { executor, bytes } of this.#reserved.splice(0)) executor.unreserve(bytes);
  }

  #moveRunGate(run: CachedRun, { type }: Fact, wasAdmitted: boolean): void {
    if (type === "run.started") this.slots.askRun(run);
    else if (isTerminalType(type)) this.slots.movedRun(run, "over");
    else if (run.state.isAdmitted && !wasAdmitted) this.slots.movedRun(run, "begun");
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
