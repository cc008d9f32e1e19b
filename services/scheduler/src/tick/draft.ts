// What one tick is about to commit. Facts are applied to the cached folds as they are drafted, so that the planner sees
// them at once; when the transaction fails, the folds it touched are dropped and read again.
//
// Seqs are provisional here: partial output moves a run's last seq without a new version, so only the database knows the
// real ones. They differ by one offset per run, which `settleSeqs` adds once the answer is there.

import { withCause } from "@pawl/core/log/cause";
import { isFinal, isTerminalType, type Fact } from "@pawl/core/log/event";
import { executionAt } from "@pawl/core/log/execution";
import { apply } from "@pawl/core/log/fold";
import type { ExecutionState } from "@pawl/core/log/state";
import { invariant } from "@pawl/core/fault/invariant";
import type { NodeId, RunId } from "@pawl/core/name/ids";
import type { NewJob } from "@pawl/platform/queue/queue";
import type {
  Append,
  InputKey,
  LeaseKey,
  NewLease,
  NewRun,
  RunChange,
  RunProjection,
  StreamedFact,
  TestGraph,
} from "@pawl/platform/store/journal";
import type { Session } from "../work/session.ts";
import type { CachedRun } from "./cache.ts";
import type { StartInput } from "./input.ts";

/** A node execution of a run. */
export interface Execution {
  readonly run: CachedRun;
  readonly nodeIndex: number;
  readonly iteration: number;
}

/** An execution given to an executor in this tick. */
export interface HandOff extends Execution {
  readonly session: Session;
}

/** A claim that ends in this tick. */
export interface ClosedClaim extends LeaseKey {
  readonly epoch: number;
  /** Taken back for somebody else, as opposed to ended with its run. */
  readonly isLost: boolean;
}

interface RunDraft {
  readonly run: CachedRun;
  readonly start: StartInput | undefined;
  /** Seqs above are provisional. */
  readonly committedSeq: number;
  readonly facts: Fact[];
  readonly opened: (HandOff & { readonly factIndex: number })[];
}

export class Draft {
  readonly #now: number;
  readonly #runs = new Map<RunId, RunDraft>();
  /** Executions queued by this draft and not placed yet. */
  readonly ready: Execution[] = [];
  readonly closed: ClosedClaim[] = [];
  /** Child runs whose parent was cancelled by this draft, and not followed yet. */
  readonly orphans: { readonly runId: RunId; readonly reason: string }[] = [];
  /** Child runs that ended in this draft, and not followed yet. */
  readonly endedChildren: CachedRun[] = [];
  readonly streamed: StreamedFact[] = [];
  readonly jobs: NewJob[] = [];

  constructor(now: number) {
    this.#now = now;
  }

  get now(): number {
    return this.#now;
  }

  get runs(): readonly CachedRun[] {
    return [...this.#runs.values()].map((draft) => draft.run);
  }

  has(runId: RunId): boolean {
    return this.#runs.has(runId);
  }

  /** The run as drafted here, if it was touched. */
  run(runId: RunId): CachedRun | undefined {
    return this.#runs.get(runId)?.run;
  }

  get isEmpty(): boolean {
    return this.#runs.size === 0 && this.streamed.length === 0;
  }

  get eventCount(): number {
    let count = 0;
    for (const draft of this.#runs.values()) count += draft.facts.length;
    return count;
  }

  /** Every drafted fact with its run. */
  *facts(): Generator<{ readonly run: CachedRun; readonly fact: Fact }> {
    for (const { run, facts } of this.#runs.values()) for (const fact of facts) yield { run, fact };
  }

  get handOffs(): HandOff[] {
    return [...this.#runs.values()].flatMap((draft) => draft.opened);
  }

  begin(run: CachedRun, start: StartInput): void {
    this.#runs.set(run.state.runId, {
      run,
      start,
      committedSeq: 0,
      facts: [],
      opened: [],
    });
  }

  /** Drafts a fact and applies it to the run's fold. */
  append(run: CachedRun, fact: Fact): void {
    const { state } = run;
    const draft = this.#draftOf(run);
    const nodeIndex = fact.nodeId === "" ? undefined : state.graph.indexOf.get(fact.nodeId);
    const { iteration } = fact;
    const before = nodeIndex === undefined ? undefined : executionAt(state, nodeIndex, iteration);
    const wasRunning = before?.status === "running" ? before.epoch : undefined;
    if (fact.type === "node.cancelled" && before?.childRunId !== undefined)
      this.orphans.push({ runId: before.childRunId, reason: fact.payload.reason });
    const seq = state.lastSeq + 1;
    const epoch = fact.type === "node.started" ? seq : fact.epoch;
    draft.facts.push(withCause(state, fact, draft.committedSeq));
    // The spread keeps the fact's own type; only its position is added.
    apply(state, { ...fact, epoch, seq, at: this.#now });
    if (state.parent !== undefined && isTerminalType(fact.type)) this.endedChildren.push(run);
    if (nodeIndex === undefined || fact.nodeId === "") return;
    if (wasRunning !== undefined && before?.status !== "running")
      this.closed.push({
        runId: state.runId,
        nodeId: fact.nodeId,
        iteration,
        epoch: wasRunning,
        isLost: fact.type === "run.recovered",
      });
    if (fact.type === "node.queued") this.ready.push({ run, nodeIndex, iteration });
  }

  /** Drafts the claim of a node by an executor connected here. */
  handOff(handOff: HandOff, fact: Extract<Fact, { type: "node.started" }>): void {
    const draft = this.#draftOf(handOff.run);
    this.append(handOff.run, fact);
    draft.opened.push({ ...handOff, factIndex: draft.facts.length - 1 });
  }

  get newRuns(): NewRun[] {
    return [...this.#runs.values()].flatMap((draft) =>
      draft.start === undefined ? [] : [newRun(draft.start, draft)],
    );
  }

  get newGraphs(): TestGraph[] {
    return this.#starts.flatMap(({ test }) => (test === undefined ? [] : [test.row]));
  }

  get inputKeys(): InputKey[] {
    return this.#starts.flatMap(({ tenantId, runId, inputKey }) =>
      inputKey === undefined
        ? []
        : [{ tenantId, runId, inputKey: inputKey.key, ttlMs: inputKey.ttlMs }],
    );
  }

  get #starts(): StartInput[] {
    return [...this.#runs.values()].flatMap(({ start }) => (start === undefined ? [] : [start]));
  }

  get changes(): RunChange[] {
    return [...this.#runs.values()].flatMap((draft) =>
      draft.start === undefined
        ? [
            {
              runId: draft.run.state.runId,
              expectedVersion: draft.run.version,
              ...projection(draft),
            },
          ]
        : [],
    );
  }

  get appends(): Append[] {
    return [...this.#runs.values()].flatMap(({ run, facts }) =>
      facts.map((fact, index) => ({
        runId: run.state.runId,
        back: facts.length - 1 - index,
        fact,
      })),
    );
  }

  get leases(): NewLease[] {
    return [...this.#runs.values()].flatMap(({ run, facts, opened }) =>
      opened.map(({ nodeIndex, iteration, session, factIndex }) => ({
        runId: run.state.runId,
        nodeId: nodeIdOf(run, nodeIndex),
        iteration,
        back: facts.length - 1 - factIndex,
        attempt: executionAt(run.state, nodeIndex, iteration)?.attempt ?? 1,
        executorId: session.executorId,
      })),
    );
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
      const offset = (lastSeqs.get(run.state.runId) ?? run.state.lastSeq) - run.state.lastSeq;
      if (offset === 0) continue;
      run.state.lastSeq += offset;
      shiftCauses(draft, offset);
      for (const { nodeIndex, iteration } of opened) {
        const execution = executionAt(run.state, nodeIndex, iteration);
        if (execution !== undefined) execution.epoch += offset;
      }
    }
  }

  #draftOf(run: CachedRun): RunDraft {
    let draft = this.#runs.get(run.state.runId);
    if (draft === undefined) {
      const committedSeq = run.state.lastSeq;
      draft = { run, start: undefined, committedSeq, facts: [], opened: [] };
      this.#runs.set(run.state.runId, draft);
    }
    return draft;
  }
}

/** Moves the provisional seqs that the folds of a draft's executions remember, at the cost of its facts and their edges. */
function shiftCauses({ run: { state }, facts, committedSeq }: RunDraft, offset: number): void {
  const moved = new Set<ExecutionState | undefined>();
  for (const { nodeId, iteration } of facts) {
    const index = nodeId === "" ? undefined : state.graph.indexOf.get(nodeId);
    if (index === undefined) continue;
    moved.add(state.nodes[index]).add(executionAt(state, index, iteration));
    for (const edge of state.graph.nodes[index]?.outgoing ?? [])
      moved.add(state.nodes[edge.target]);
  }
  for (const execution of moved)
    if (execution !== undefined && execution.causeSeq > committedSeq) execution.causeSeq += offset;
}

function nodeIdOf(run: CachedRun, nodeIndex: number): NodeId {
  const node = run.state.graph.nodes[nodeIndex];
  invariant(node !== undefined, `node ${nodeIndex} is in the graph`);
  return node.definition.id;
}

function projection({ run: { state }, facts }: RunDraft): RunProjection {
  return {
    status: state.status,
    hasFailures: state.hasFailures,
    errorMessage: state.status === "failed" ? (state.message ?? null) : null,
    ended: isFinal(state.status),
    eventCount: facts.length,
  };
}

function newRun(start: StartInput, draft: RunDraft): NewRun {
  const { runId, tenantId, definitionId, workflowId, workflowVersion, priority } = start;
  const { requestId, requestHash, traceparent, deadlineAt, assumesNewest } = start;
  return {
    runId,
    tenantId,
    definitionId,
    workflowId,
    workflowVersion,
    priority,
    requestId,
    requestHash,
    traceparent,
    deadlineAt,
    assumesNewest,
    kind: start.runKind,
    parent: start.parent ?? null,
    ...projection(draft),
  };
}
