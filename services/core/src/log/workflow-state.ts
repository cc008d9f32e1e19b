// The state of a run as users read it: every field of the workflow state, assembled from the folded log. GetRun, the command line and the
// context of handlers show this one object. A run has several nodes at work at once, so `currentNode` and `retryCount` are about the node
// that started last, and `currentNodes` and `retries` are about all of them.

import { LIMITS } from "../data/limits.ts";
import type { MemoryReads } from "../definition/shape.ts";
import {
  APPROVAL,
  isFinal,
  isSettled,
  MODERATION_HOLD,
  type RunStatus,
  TAINT_HOLD,
} from "./event.ts";
import { runStatus } from "./fold.ts";
import { memoryJson } from "./memory.ts";
import { isBackingOff } from "./run-status.ts";
import type { ExecutionState, NodeState, RunState } from "./state.ts";
import { WAITING_REASONS, type WaitingReason, type WorkflowState } from "./workflow-state-shape.ts";

/** The state after the folded log. `memory` are the keys that the reader may see. */
export function workflowState(
  state: RunState,
  { workflowId, memory = "all" }: { readonly workflowId: string; readonly memory?: MemoryReads },
): WorkflowState {
  const status = runStatus(state);
  const current = currentIndexes(state);
  const index = currentIndex(state, current);
  const skipped = Math.max(0, state.visited.length - LIMITS.visitedNodes);
  return {
    workflowId,
    runId: state.runId,
    goal: state.goal,
    constraints: state.constraints,
    status,
    currentNode: idAt(state, index),
    currentNodes: current.slice(0, LIMITS.visitedNodes).map((each) => idAt(state, each)),
    iterationCount: state.iterationCount,
    maxIterations: state.maxIterations,
    // A run that the scheduler completed alone started when the scheduler accepted it.
    startedAt: state.begunAt ?? (isFinal(status) ? state.startedAt : undefined),
    maxExecutionTimeMs: state.deadlineMs,
    retryCount: index === undefined ? 0 : (state.retries.get(index) ?? 0),
    retries: retriesOf(state),
    maxRetries: maxRetriesOf(state, index),
    lastError: state.lastError ?? "",
    compensationStack: stackOf(state),
    ...waitOf(state, status),
    totalTokensUsed: state.ledger.used.inputTokens + state.ledger.used.outputTokens,
    maxTokenBudget: state.budget?.tokens,
    totalCostUsd: state.ledger.used.costMicros / 1e6,
    budgetUsd: state.budget?.costMicros === undefined ? undefined : state.budget.costMicros / 1e6,
    memoryJson: memoryJson(state, memory, "all"),
    visitedNodes: state.visited.slice(skipped).map((each) => idAt(state, each)),
    visitedNodesLeftOut: state.visitsDropped + skipped,
    supervisorHistory: decisionsOf(state),
    createdAt: state.startedAt,
    updatedAt: state.updatedAt,
    eventId: state.lastSeq,
  };
}

const idAt = ({ graph }: RunState, index: number | undefined): string =>
  index === undefined ? "" : (graph.nodes[index]?.definition.id ?? "");

/** The nodes that have begun and not settled, in the order of the definition. */
function currentIndexes({ status, nodes }: RunState): readonly number[] {
  if (isFinal(status)) return [];
  return [...nodes.keys()].filter((index) => {
    const node = nodes[index];
    // A policy may hold a node before it has started.
    const hasBegun = node?.startedAt !== undefined || node?.status === "waiting";
    return hasBegun && !isSettled(node.status);
  });
}

function currentIndex(
  { lastStartedNode, nodes }: RunState,
  current: readonly number[],
): number | undefined {
  if (lastStartedNode !== undefined && current.includes(lastStartedNode)) return lastStartedNode;
  let newest = current[0];
  for (const index of current)
    if ((nodes[index]?.startedAt ?? 0) >= (nodes[newest ?? index]?.startedAt ?? 0)) newest = index;
  return newest;
}

/** The newest decisions of supervisors. A supervisor that is done leads to no other work. */
function decisionsOf({ supervisorHistory, graph }: RunState): WorkflowState["supervisorHistory"] {
  return supervisorHistory.slice(-LIMITS.visitedNodes).map(({ seq: eventId, ...decision }) => {
    const { nodeId, route } = decision;
    const edge = graph.nodes[graph.indexOf.get(nodeId) ?? -1]?.outgoing.find(
      ({ handle }) => handle === route,
    );
    const next = route === DONE ? "" : (edge?.definition.target ?? "");
    return { ...decision, next, eventId };
  });
}

/** The route of a supervisor that ends its work. */
const DONE = "done";

function retriesOf(state: RunState): Readonly<Record<string, number>> {
  const newest = [...state.retries].slice(-LIMITS.visitedNodes);
  return Object.fromEntries(newest.map(([index, times]) => [idAt(state, index), times]));
}

function maxRetriesOf({ graph, maxRetries }: RunState, index: number | undefined): number {
  const definition = index === undefined ? undefined : graph.nodes[index]?.definition;
  if (definition === undefined) return maxRetries ?? 0;
  const { attempts } = (definition.scope?.body ?? definition).retry;
  return Math.min(attempts - 1, maxRetries ?? Infinity);
}

/** Entries of the stack in a state, and characters of each payload. A longer payload is null: the output is in the log. */
const STACK_ENTRIES = 100;
const STACK_PAYLOAD = 4_096;

/** The compensations that have not run yet, in the order in which their executions completed: the newest. */
const stackOf = (state: RunState): WorkflowState["compensationStack"] =>
  [...state.undos.values()]
    .filter(({ status }) => !isSettled(status))
    .slice(-STACK_ENTRIES)
    .map(({ nodeIndex, iteration, given }) => {
      const type = state.graph.nodes[nodeIndex]?.definition.compensation?.type ?? "";
      const actionId = `${idAt(state, nodeIndex)}/${iteration}`;
      return { actionId, compensationAction: { type, payloadJson: shortJson(given) } };
    });

const shortJson = (json: string): string => (json.length > STACK_PAYLOAD ? "null" : json);

type Wait = Pick<WorkflowState, "waitingFor" | "waitingSince" | "waitingTimeoutAt">;
/** One reason to wait, and when that wait ends by itself. */
type Reason = readonly [WaitingReason, number | undefined];

const NO_WAIT: Wait = {
  waitingFor: undefined,
  waitingSince: undefined,
  waitingTimeoutAt: undefined,
};

/** Why the run makes no progress. It looks at executions only if none can run now. */
function waitOf(state: RunState, status: RunStatus): Wait {
  if (isFinal(status)) return NO_WAIT;
  const pause = state.pause?.waitingFor ?? "paused";
  const reasons: readonly Reason[] = status === "paused" ? [[pause, undefined]] : held(state);
  const waitingFor = WAITING_REASONS.find((each) => reasons.some(([reason]) => reason === each));
  if (waitingFor === undefined) return NO_WAIT;
  const ends = reasons.flatMap(([, end]) => (end === undefined ? [] : [end]));
  const waitingTimeoutAt = ends.length === 0 ? undefined : Math.min(...ends);
  return { waitingFor, waitingSince: state.waitingSince ?? state.updatedAt, waitingTimeoutAt };
}

function held(state: RunState): readonly Reason[] {
  if (state.status === "pending") {
    if (state.thread !== undefined && !state.isThreadTaken) return [["thread", state.deadlineAt]];
    const isOfDay = state.daily !== undefined && (state.slot ?? state.rate) === undefined;
    return [[isOfDay ? "budget" : "slot", state.deadlineAt]];
  }
  const reasons: Reason[] = [];
  for (const execution of openExecutions(state)) {
    const found = reasonOf(execution);
    if (found === undefined) return [];
    reasons.push(found);
  }
  return reasons;
}

const isOpen = ({ status }: ExecutionState): boolean => status !== "pending" && !isSettled(status);

/** Lazily: one that can run ends the search, and a map may have ten thousand settled items. */
function* openExecutions({ nodes, undos }: RunState): Generator<ExecutionState> {
  for (const node of nodes) if (isOpen(node)) yield* partsOf(node);
  for (const undo of undos.values()) if (isOpen(undo)) yield undo;
}

/** A map or a loop waits for its items, or for the time of the next one. */
function* partsOf(node: NodeState): Generator<ExecutionState> {
  const { scope } = node;
  if (scope === undefined) return yield node;
  const open = scope.items.values().filter(({ status }) => !isSettled(status));
  const first = open.next();
  if (first.done === true) return yield { ...node, notBefore: scope.releaseAt };
  yield first.value;
  yield* open;
}

/** Why an execution does not advance; undefined if it runs or could run. */
function reasonOf(execution: ExecutionState): Reason | undefined {
  const { status, attempt, notBefore, hold, wait, childRunId } = execution;
  if (hold?.reason === APPROVAL || hold?.reason === TAINT_HOLD)
    return ["human_approval", hold.deadlineAt];
  if (hold?.reason === MODERATION_HOLD) return ["moderation", hold.deadlineAt];
  if (wait !== undefined) return ["signal", wait.deadlineAt];
  if (childRunId !== undefined) return ["child_run", undefined];
  if (isBackingOff(status, attempt, notBefore)) return ["retry", notBefore];
  return notBefore === undefined ? undefined : ["delay", notBefore];
}
