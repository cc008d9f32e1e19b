// What one tick is about to commit. Facts are applied to the cached folds as they are drafted, so that the planner sees
// them at once; when the transaction fails, the folds it touched are dropped and read again.
//
// Seqs are provisional here: partial output moves a run's last seq without a new version, so only the database knows the
// real ones. They differ by one offset per run, which `settleSeqs` adds once the answer is there.

import { isFinal, type Fact } from "@pawl/core/log/event";
import { apply } from "@pawl/core/log/fold";
import { invariant } from "@pawl/core/fault/invariant";
import type { NodeId, RunId } from "@pawl/core/name/ids";
import type { NewJob } from "@pawl/platform/queue/queue";
import type {
  Append,
  LeaseKey,
  NewLease,
  NewRun,
  RunChange,
  RunProjection,
  StreamedFact,
} from "@pawl/platform/store/journal";
import type { Session } from "../work/session.ts";
import type { CachedRun } from "./cache.ts";
import type { StartInput } from "./input.ts";

/** A node given to an executor in this tick. */
export interface HandOff {
  readonly run: CachedRun;
  readonly nodeIndex: number;
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
  readonly facts: Fact[];
  readonly opened: (HandOff & { readonly factIndex: number })[];
}

export class Draft {
  readonly #now: number;
  readonly #runs = new Map<RunId, RunDraft>();
  /** Nodes queued by this draft and not placed yet. */
  readonly ready: { readonly run: CachedRun; readonly nodeIndex: number }[] = [];
  readonly closed: ClosedClaim[] = [];
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
    this.#runs.set(run.state.runId, { run, start, facts: [], opened: [] });
  }

  /** Drafts a fact and applies it to the run's fold. */
  append(run: CachedRun, fact: Fact): void {
    const { state } = run;
    const draft = this.#draftOf(run);
    const nodeIndex = fact.nodeId === "" ? undefined : state.graph.indexOf.get(fact.nodeId);
    const before = nodeIndex === undefined ? undefined : state.nodes[nodeIndex];
    const wasRunning = before?.status === "running" ? before.epoch : undefined;
    const seq = state.lastSeq + 1;
    const epoch = fact.type === "node.started" ? seq : fact.epoch;
    draft.facts.push(fact);
    // The spread keeps the fact's own type; only its position is added.
    apply(state, { ...fact, epoch, seq, at: this.#now });
    if (nodeIndex === undefined || before === undefined || fact.nodeId === "") return;
    if (wasRunning !== undefined && before.status !== "running")
      this.closed.push({
        runId: state.runId,
        nodeId: fact.nodeId,
        iteration: fact.iteration,
        epoch: wasRunning,
        isLost: fact.type === "run.recovered",
      });
    if (fact.type === "node.queued") this.ready.push({ run, nodeIndex });
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
      opened.map(({ nodeIndex, session, factIndex }) => ({
        runId: run.state.runId,
        nodeId: nodeIdOf(run, nodeIndex),
        iteration: 0,
        back: facts.length - 1 - factIndex,
        attempt: run.state.nodes[nodeIndex]?.attempt ?? 1,
        executorId: session.executorId,
      })),
    );
  }

  /** After the commit: real seqs and epochs, and the version each run has now. */
  settleSeqs(lastSeqs: ReadonlyMap<RunId, number>): void {
    for (const { run, start, opened } of this.#runs.values()) {
      if (start !== undefined) {
        run.version = 1;
        continue;
      }
      run.version += 1;
      const offset = (lastSeqs.get(run.state.runId) ?? run.state.lastSeq) - run.state.lastSeq;
      if (offset === 0) continue;
      run.state.lastSeq += offset;
      for (const { nodeIndex } of opened) {
        const node = run.state.nodes[nodeIndex];
        if (node !== undefined) node.epoch += offset;
      }
    }
  }

  #draftOf(run: CachedRun): RunDraft {
    let draft = this.#runs.get(run.state.runId);
    if (draft === undefined) {
      draft = { run, start: undefined, facts: [], opened: [] };
      this.#runs.set(run.state.runId, draft);
    }
    return draft;
  }
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
  const { requestId, requestHash, traceparent, deadlineAt } = start;
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
    kind: start.runKind,
    ...projection(draft),
  };
}
