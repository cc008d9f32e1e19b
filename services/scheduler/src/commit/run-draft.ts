// Everything that one tick is about to commit about one run: its facts, and the rows that follow from them.

import { withCause } from "@pawl/core/log/cause";
import { contextJson } from "@pawl/core/log/context";
import { isFinal, type Fact } from "@pawl/core/log/event";
import { executionAt, executionDefinition } from "@pawl/core/log/execution";
import { runStatus } from "@pawl/core/log/fold";
import { writtenKeys } from "@pawl/core/log/memory";
import { exceptionOf } from "@pawl/core/log/result";
import type { AcceptedStart } from "@pawl/core/log/start";
import type { MemoryEntry } from "@pawl/core/log/memory-entry";
import type { ExecutionState } from "@pawl/core/log/state";
import { nodeIdAt } from "@pawl/core/plan/place";
import { isInlineKind } from "@pawl/core/plan/inline";
import { type DroppedJob, GLUE } from "@pawl/platform/queue/queue";
import type { LeaseKey } from "@pawl/platform/store/leases/leases";
import type { RunProjection } from "@pawl/platform/store/runs/runs";
import type { Executor } from "./executor.ts";
import type { CachedRun } from "./cache.ts";

/** A node execution of a run. */
export interface Execution {
  readonly run: CachedRun;
  readonly nodeIndex: number;
  readonly iteration: number;
}

/** An execution given to an executor in this tick. */
export interface HandOff extends Execution {
  readonly executor: Executor;
  /** About how many bytes the assignment takes. */
  readonly bytes: number;
}

/** A claim that ends in this tick. */
export interface ClosedClaim extends LeaseKey {
  readonly epoch: number;
  /** True if the scheduler took the claim from its executor. False if the node was cancelled. */
  readonly isLost: boolean;
  /** The same draft opened the claim, so there is no lease. */
  readonly isUnwritten: boolean;
}

/** A hand-off that the tick is about to commit. */
export interface Opened extends HandOff {
  /** The index of its `node.started` among the facts of the run. */
  readonly factIndex: number;
  /** Whether an earlier claim may have streamed output. */
  readonly wasClaimed: boolean;
  /** The index at which the executor continues the node's stream. The commit sets it. */
  firstDeltaIndex: number;
  /** The context of the claim, if a later fact of the draft gave labels to data that the claim has read without them. */
  contextJson?: string;
}

export interface RunDraft {
  readonly run: CachedRun;
  /** Set if the run begins in this draft. */
  readonly start: AcceptedStart | undefined;
  /** The last committed seq. Higher seqs are provisional. */
  readonly committedSeq: number;
  /** The deadline before this draft. */
  readonly deadlineAt: number;
  readonly facts: Fact[];
  /** Opened claims by execution. The draft removes a claim that also ends in it. */
  readonly opened: Map<number, Opened>;
}

/** The key of an execution within its run. */
export const executionKey = (nodeIndex: number, iteration: number): number =>
  nodeIndex * 2 ** 32 + iteration;

/**
 * Shifts the provisional seqs that the folds of the drafted executions hold. The cost grows with the facts of the draft and their edges.
 */
export function shiftCauses(
  { run: { state }, facts, committedSeq }: RunDraft,
  offset: number,
): void {
  const moved = new Set<ExecutionState | undefined>();
  const written = new Set<MemoryEntry>();
  for (const fact of facts) {
    const { nodeId, iteration } = fact;
    for (const key of writtenKeys(state.graph, fact)) {
      const entry = state.memory.get(key);
      if (entry !== undefined && entry.seq > committedSeq) written.add(entry);
    }
    const index = nodeId === "" ? undefined : state.graph.indexOf.get(nodeId);
    if (index === undefined) continue;
    moved.add(state.nodes[index]).add(executionAt(state, index, iteration));
    for (const edge of state.graph.nodes[index]?.outgoing ?? [])
      moved.add(state.nodes[edge.target]);
  }
  for (const execution of moved)
    if (execution !== undefined && execution.causeSeq > committedSeq) execution.causeSeq += offset;
  for (const entry of written) entry.seq += offset;
}

/** Whether a fact gives labels to a value that other executions may read. */
const isLabelling = ({ type, payload }: Fact): boolean =>
  (type === "node.completed" || type === "memory.updated") && payload.taint !== undefined;

/**
 * Race: a tick claims a node, takes more inputs before its commit, and one of them writes labelled data that the node could read. The policies
 * have judged the claim without that data. So its context stays as it was at the claim.
 */
function freezeContexts({ run: { state }, opened }: RunDraft, fact: Fact): void {
  if (opened.size === 0 || !isLabelling(fact)) return;
  for (const each of opened.values())
    each.contextJson ??= contextJson(state, each.nodeIndex, each.iteration);
}

/** Adds a fact to the draft, before the fold applies it. */
export function record(draft: RunDraft, fact: Fact): void {
  freezeContexts(draft, fact);
  draft.facts.push(withCause(draft.run.state, fact, draft.committedSeq));
}

export function projection({ run: { state }, facts }: RunDraft): RunProjection {
  return {
    status: runStatus(state),
    hasFailures: state.hasFailures,
    errorMessage: state.status === "failed" ? (state.message ?? null) : null,
    failureClass: exceptionOf(state)?.failureClass ?? null,
    ended: isFinal(state.status),
    eventCount: facts.length,
  };
}

/** The jobs that a queued execution may have: one in the queue of its type, or one in the queue of glue nodes. */
export function jobKeysOf(execution: Execution): DroppedJob[] {
  const key = jobKeyOf(execution);
  const { run, nodeIndex, iteration } = execution;
  const isInline = isInlineKind(run.state, nodeIndex, iteration);
  return isInline ? [key, { ...key, nodeType: GLUE }] : [key];
}

/** The key of the job of a queued execution in the queue of its type. */
export function jobKeyOf({ run: { state }, nodeIndex, iteration }: Execution): DroppedJob {
  return {
    runId: state.runId,
    nodeId: nodeIdAt(state, nodeIndex),
    iteration,
    attempt: executionAt(state, nodeIndex, iteration)?.attempt ?? 1,
    nodeType: executionDefinition(state, nodeIndex, iteration).type,
  };
}
