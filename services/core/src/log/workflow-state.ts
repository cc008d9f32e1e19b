// The state of a run as users read it: every field of the workflow state, assembled from the folded log. GetRun, the command line and the
// context of handlers show this one object. A run has several nodes at work at once, so `currentNode` and `retryCount` are about the node
// that started last, and `currentNodes` and `retries` are about all of them.

import { LIMITS } from "../data/limits.ts";
import type { MemoryReads } from "../definition/shape.ts";
import { isFinal, isSettled } from "./event.ts";
import { runStatus } from "./fold.ts";
import type { Taint } from "../policy/taint.ts";
import { memoryJson } from "./memory.ts";
import type { ExecutionState, RunState } from "./state.ts";
import { waitOf } from "./workflow-wait.ts";
import type { WorkflowState } from "./workflow-state-shape.ts";

interface Reader {
  readonly workflowId: string;
  /** The keys of the memory that the reader may see. */
  readonly memory?: MemoryReads;
  /** The labels of data that the reader may see. Undefined means all. Text with other labels is left out. */
  readonly labels?: ReadonlySet<string>;
  /** The time of the read. Undefined means the time of the newest event: the reader wants the state as it was then. */
  readonly now?: number | undefined;
}

/** The state after the folded log. */
export function workflowState(
  state: RunState,
  { workflowId, memory = "all", labels, now = state.updatedAt }: Reader,
): WorkflowState {
  const isShown: IsShown = (taint = []) =>
    labels === undefined || taint.every(({ label }) => labels.has(label));
  const status = runStatus(state);
  const current = currentOf(state);
  const index = currentIndex(state, current);
  const skipped = Math.max(0, state.visited.length - LIMITS.visitedNodes);
  return {
    workflowId,
    runId: state.runId,
    goal: state.goal,
    constraints: state.constraints,
    status,
    currentNode: idAt(state, index),
    currentNodes: [...current.keys()]
      .slice(0, LIMITS.visitedNodes)
      .map((each) => idAt(state, each)),
    iterationCount: state.iterationCount,
    maxIterations: state.maxIterations,
    // A run that the scheduler completed alone started when the scheduler accepted it.
    startedAt: state.begunAt ?? (isFinal(status) ? state.startedAt : undefined),
    maxExecutionTimeMs: state.deadlineMs,
    retryCount: index === undefined ? 0 : (state.retries.get(index) ?? 0),
    retries: retriesOf(state),
    maxRetries: maxRetriesOf(state, index),
    lastError: isShown(state.lastErrorTaint) ? (state.lastError ?? "") : "",
    compensationStack: stackOf(state, isShown),
    ...waitOf(state, status, now),
    totalTokensUsed: state.ledger.used.inputTokens + state.ledger.used.outputTokens,
    maxTokenBudget: state.budget?.tokens,
    totalCostUsd: state.ledger.used.costMicros / 1e6,
    budgetUsd: state.budget?.costMicros === undefined ? undefined : state.budget.costMicros / 1e6,
    memoryJson: memoryJson(state, memory, "all"),
    visitedNodes: state.visited.slice(skipped).map((each) => idAt(state, each)),
    visitedNodesLeftOut: state.visitsDropped + skipped,
    supervisorHistory: decisionsOf(state, isShown),
    createdAt: state.startedAt,
    updatedAt: state.updatedAt,
    eventId: state.lastSeq,
  };
}

/** Whether the reader may see text with these labels. */
type IsShown = (taint: Taint | undefined) => boolean;

const idAt = ({ graph }: RunState, index: number | undefined): string =>
  index === undefined ? "" : (graph.nodes[index]?.definition.id ?? "");

/** The nodes at work in the order of the definition, each with the time at which its newest execution began. */
function currentOf(state: RunState): ReadonlyMap<number, number> {
  const { status, nodes, ending, undos } = state;
  const found = new Map<number, number>();
  if (isFinal(status)) return found;
  if (ending === undefined) {
    for (const [index, node] of nodes.entries())
      if (isAtWork(node)) found.set(index, node.startedAt ?? 0);
    return found;
  }
  for (const undo of undos.values())
    if (isAtWork(undo))
      found.set(undo.nodeIndex, Math.max(found.get(undo.nodeIndex) ?? 0, undo.startedAt ?? 0));
  return new Map([...found].toSorted(([a], [b]) => a - b));
}

/** Whether an execution has begun and not settled. A policy may hold one before it has started. */
const isAtWork = ({ status, startedAt }: ExecutionState): boolean =>
  (startedAt !== undefined || status === "waiting") && !isSettled(status);

function currentIndex(
  { lastStartedNode }: RunState,
  current: ReadonlyMap<number, number>,
): number | undefined {
  if (lastStartedNode !== undefined && current.has(lastStartedNode)) return lastStartedNode;
  let newest: number | undefined;
  for (const [index, startedAt] of current)
    if (newest === undefined || startedAt >= (current.get(newest) ?? 0)) newest = index;
  return newest;
}

/** The newest decisions of supervisors. A supervisor that is done leads to no other work. */
function decisionsOf(
  { supervisorHistory, graph }: RunState,
  isShown: IsShown,
): WorkflowState["supervisorHistory"] {
  const newest = supervisorHistory.slice(-LIMITS.visitedNodes);
  return newest.map(({ seq: eventId, taint, reason: given, ...decision }) => {
    const { nodeId, route } = decision;
    const reason = isShown(taint) ? given : "";
    const edge = graph.nodes[graph.indexOf.get(nodeId) ?? -1]?.outgoing.find(
      ({ handle }) => handle === route,
    );
    const next = route === DONE ? "" : (edge?.definition.target ?? "");
    return { ...decision, reason, next, eventId };
  });
}

/** The route of a supervisor that ends its work. */
const DONE = "done";

function retriesOf(state: RunState): Readonly<Record<string, number>> {
  const newest = [...state.retries].slice(-LIMITS.visitedNodes);
  return Object.fromEntries(newest.map(([index, times]) => [idAt(state, index), times]));
}

function maxRetriesOf(
  { graph, maxRetries, ending }: RunState,
  index: number | undefined,
): number | undefined {
  const definition = index === undefined ? undefined : graph.nodes[index]?.definition;
  if (definition === undefined) return maxRetries;
  const undone = ending === undefined ? undefined : definition.compensation;
  const { attempts } = (undone ?? definition.scope?.body ?? definition).retry;
  return Math.min(attempts - 1, maxRetries ?? Infinity);
}

/** Entries of the stack in a state, and characters of each payload. A longer payload is null: the output is in the log. */
const STACK_ENTRIES = 100;
const STACK_PAYLOAD = 4_096;

/** The compensations that have not run yet, in the order in which their executions completed: the newest. */
const stackOf = (state: RunState, isShown: IsShown): WorkflowState["compensationStack"] =>
  [...state.undos.values()]
    .filter(({ status }) => !isSettled(status))
    .slice(-STACK_ENTRIES)
    .map(({ nodeIndex, iteration, given, givenTaint }) => {
      const type = state.graph.nodes[nodeIndex]?.definition.compensation?.type ?? "";
      const actionId = `${idAt(state, nodeIndex)}/${iteration}`;
      const payloadJson = isShown(givenTaint) ? shortJson(given) : "null";
      return { actionId, compensationAction: { type, payloadJson } };
    });

const shortJson = (json: string): string => (json.length > STACK_PAYLOAD ? "null" : json);
