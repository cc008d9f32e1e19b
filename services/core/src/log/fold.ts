// (state, event) → state: what the log means to the scheduler. `apply` changes the state in place; the caller owns it. The
// scheduler, GetRun and the explanations fold with it. Clients fold with `view.ts`; both take the statuses from the event table.
//
// Node states and the events that move them:
//   pending ─queued▶ queued ─started▶ running ─completed | failed | timed_out▶ settled
//   running ─retried▶ retrying ─queued▶ queued            (next attempt)
//   running ─run.recovered▶ retrying ─queued▶ queued      (same attempt; an executor lost the delivery)
//   running ─expanded | blocked▶ waiting                  (for its iterations, its child run, a signal or a person)
//   waiting ─decided▶ waiting ─completed | queued | failed▶ …           (a person has decided)
//   pending ─skipped | failed(upstream)▶ settled          any unsettled ─cancelled▶ settled
//   pending | queued ─completed | failed | expanded | blocked▶ …   (a glue node, which the scheduler completes itself)
//   pending | queued ─blocked | failed▶ …                 (a policy about labels stops it)
//   settled ─invalidated▶ pending                         (the next round, which `round.ts` begins)
// Iterations of a map or a loop (`fold-item.ts`) and compensations (`undo.ts`) move the same way; nothing moves beside a compensation.
// When a node settles, the fold updates the join counters of its children and puts the pending ones on the frontier. The planner
// looks only at the frontier.

import { hasReference } from "../data/reference.ts";
import { utf8Bytes } from "../data/utf8.ts";
import type { Graph } from "../definition/graph.ts";
import { unreachable } from "../fault/invariant.ts";
import { nodeId, type RunId } from "../name/ids.ts";
import { changeStatus, keepClock } from "./clock.ts";
import { count } from "./counters.ts";
import { edgeEffect, JUMPED } from "./edge-effect.ts";
import { isSettled, type FactOf, type LoggedFact, type RunStatus } from "./event.ts";
import { isNodeFact, isRunFact, type NodeFact, type RunFact } from "./fact-kind.ts";
import { applyToItem, closeScope, openScope } from "./fold-item.ts";
import { noteUnfunded, raiseBudget, settleFunds, takeFunds } from "./ledger.ts";
import { corrupt } from "./corrupt.ts";
import { beginsQueued, failureOf, reasonText, runStatusAfter } from "./meaning.ts";
import { remember, takeMemory } from "./memory.ts";
import { beginInline, leave, move } from "./move.ts";
import { noteProgress, visit } from "./progress.ts";
import { beginRound, enter, noteHandoff, noteJump } from "./round.ts";
import { mayBecome, statusOf } from "./run-status.ts";
import { keepSignal, takeSignal } from "./signal.ts";
import { newRunState, type NodeState, type RunState } from "./state.ts";
import { mergeMetadata } from "./metadata.ts";
import { noteDecision } from "./supervisor.ts";
import { noteTaint } from "./taint.ts";
import { applyToUndo, beginUndoing, beginUndoRun, clearWork, keepForUndo } from "./undo.ts";
import { isUndo } from "./undo-iteration.ts";

export { newRunState } from "./state.ts";

/** The state after `events`, the whole log of a run in order of seq. */
export function fold(runId: RunId, graph: Graph, events: Iterable<LoggedFact>): RunState {
  const state = newRunState(runId, graph);
  for (const event of events) apply(state, event);
  return state;
}

/**
 * Moves `state`, which the caller owns, past `event`.
 * @throws EVENT_LOG_CORRUPTION when the event names an unknown node, settles a node twice or changes the run's status illegally.
 */
export function apply(state: RunState, event: LoggedFact): void {
  const before = runStatus(state);
  if (isNodeFact(event)) applyToNode(state, event);
  else if (isRunFact(event)) applyToRun(state, event);
  else if (event.type === "run.thread.taken") takeMemory(state, event);
  else if (event.type === "run.signalled") keepSignal(state, event);
  else if (event.type === "run.metadata.set") mergeMetadata(state, event.value);
  else if (event.type === "run.budget.raised") raiseBudget(state, event);
  const after = runStatus(state);
  if (before !== after && !mayBecome(before, after))
    throw corrupt(event, `makes a run ${after} that is ${before}`);
  if (!state.hasReferences) state.hasReferences = hasReference(event.value ?? "");
  remember(state, event);
  noteTaint(state, event);
  noteProgress(state, event);
  state.lastSeq = event.seq;
  keepClock(state, event.at);
}

/** The status of a run as users see it: `scheduled` and `retrying` follow from its nodes. */
export const runStatus = ({ status, begunAt, activeCount, backoffCount }: RunState): RunStatus =>
  statusOf({ status, hasBegun: begunAt !== undefined, activeCount, backoffCount });

function applyToRun(state: RunState, event: RunFact): void {
  switch (event.type) {
    case "run.started":
      state.slot = event.payload.slot;
      state.rate = event.payload.rate;
      state.daily = event.payload.daily;
      state.kind = event.payload.kind;
      state.workflowVersion = event.payload.workflowVersion;
      state.deadlineAt = event.payload.deadlineAt;
      state.firstDeadlineAt = event.payload.deadlineAt;
      state.parent = event.payload.parent;
      state.thread = event.payload.thread;
      state.startAt = event.payload.startAt;
      state.depth = event.payload.depth ?? 0;
      state.maxIterations = event.payload.maxIterations ?? state.maxIterations;
      state.deadlineMs = event.payload.deadlineMs ?? state.deadlineMs;
      state.maxRetries = event.payload.maxRetries ?? state.maxRetries;
      state.goal = event.payload.goal ?? state.goal;
      state.constraints = event.payload.constraints ?? state.constraints;
      state.assistant = event.payload.assistant;
      state.budget = event.payload.budget;
      state.startedAt = event.at;
      state.input = event.value ?? "null";
      state.inputBytes = utf8Bytes(state.input);
      state.inputTaint = event.payload.taint;
      state.webhookEvents = event.payload.webhookEvents ?? [];
      if (runStatusAfter(event) === "running") admit(state);
      beginUndoRun(state, event);
      break;
    case "run.status.changed":
      if (event.payload.to === "running" && !state.isAdmitted) admit(state);
      state.dayFunds = event.payload.dayFunds ?? state.dayFunds;
      changeStatus(state, event);
      if (event.payload.ending !== undefined) beginUndoing(state, event.payload.ending, event.seq);
      break;
    case "run.completed":
      state.output = event.value;
      state.outputTaint = event.payload.taint;
      state.hasFailures = event.payload.hasFailures;
      end(state, event);
      break;
    case "run.failed":
      state.failure = runFailure(state, event);
      end(state, event);
      break;
    case "run.cancelled":
      state.stop = event.payload.stop;
      end(state, event);
      break;
    case "run.timed_out":
      end(state, event);
      break;
    default:
      unreachable(event, "run event type");
  }
}

/** Why the run failed. A log of an earlier version has the cause only in the events of the node. */
function runFailure({ graph, nodes }: RunState, event: FactOf<"run.failed">): RunState["failure"] {
  const { failedNodeId: id } = event.payload;
  const node = nodes[graph.indexOf.get(nodeId(id)) ?? -1];
  const { details } = node?.failure ?? {};
  const why = failureOf(event) ?? node?.failure ?? { cause: "", failureClass: "retriable" };
  return { ...why, nodeId: id, ...(details === undefined ? {} : { details }) };
}

function applyToNode(state: RunState, event: NodeFact): void {
  const index = event.nodeId === "" ? undefined : state.graph.indexOf.get(event.nodeId);
  const node = index === undefined ? undefined : state.nodes[index];
  if (index === undefined || node === undefined) throw corrupt(event, "names an unknown node");
  if (isUndo(event.iteration)) {
    settleFunds(state, index, event);
    const fault = applyToUndo(state, index, event);
    if (fault !== undefined) throw corrupt(event, fault);
    return;
  }
  // Before the fold counts the jump that the execution may take.
  if (event.type === "node.completed") keepForUndo(state, index, event);
  count(state, index, node, event.iteration, -1);
  settleFunds(state, index, event);
  if (event.iteration !== node.base) {
    const fault = applyToItem(state, index, event);
    if (fault !== undefined) throw corrupt(event, fault);
  } else applyToWhole(state, index, node, event);
  takeFunds(state, index, event);
  noteUnfunded(state, index, event);
  count(state, index, node, event.iteration, 1);
  if (state.signals.size > 0) takeSignal(state, event);
  if (event.type !== "node.started" && event.type !== "node.blocked") return;
  state.begunAt ??= event.at;
  state.lastStartedNode = index;
  if (event.type === "node.blocked") noteHandoff(state, index, event);
}

function applyToWhole(state: RunState, index: number, node: NodeState, event: NodeFact): void {
  const wasPending = node.status === "pending";
  const wasStarted = node.startedAt !== undefined;
  // A cancelled target is invalidated next, and that begins its round.
  if (wasPending && state.jumps.length > 0 && event.type !== "node.cancelled")
    enter(state, index, node);
  const isBegun = beginInline(node, event) || beginsQueued(event);
  if (wasPending && isBegun && state.graph.nodes[index]?.definition.late === "cancel")
    state.firedJoins.add(index);
  switch (event.type) {
    case "node.queued":
    case "node.blocked":
      state.frontier.delete(index);
      move(node, event);
      break;
    case "node.started":
    case "run.recovered":
    case "node.retried":
    case "node.decided":
      move(node, event);
      break;
    case "node.expanded":
      move(node, event);
      node.scope = openScope(state, index, event);
      node.scope.itemsTaint = event.payload.taint;
      state.scopes.add(index);
      break;
    case "node.invalidated":
      if (!isSettled(node.status))
        throw corrupt(event, "ends the round of a node that is not settled");
      beginRound(state, index, node);
      break;
    case "node.completed":
      complete(state, index, node, event);
      settle(state, index, node, event);
      break;
    case "node.failed":
    case "node.timed_out":
      fail(state, index);
      settle(state, index, node, event);
      if (node.failure !== undefined && event.value !== undefined)
        node.failure = { ...node.failure, details: event.value };
      break;
    case "node.cancelled":
    case "node.skipped":
      settle(state, index, node, event);
      break;
    default:
      unreachable(event, "node event type");
  }
  node.causeSeq = event.seq;
  if (!wasStarted && node.startedAt !== undefined) visit(state, index);
}

function complete(
  state: RunState,
  index: number,
  node: NodeState,
  event: FactOf<"node.completed"> & { readonly at: number; readonly seq: number },
): void {
  const { handle, queueDelayMs, goto, taint } = event.payload;
  node.handle = goto === undefined ? handle : JUMPED;
  node.taint = taint;
  node.output = event.value ?? "null";
  node.outputBytes = utf8Bytes(node.output);
  if (queueDelayMs !== undefined) node.releaseAt = event.at + queueDelayMs;
  if (handle === "error") state.hasFailures = true;
  noteJump(state, index, node, goto);
  noteDecision(state, index, node, event);
  const variable = state.graph.nodes[index]?.definition.outputVariable ?? null;
  if (variable !== null) {
    const { kept } = node;
    if (kept === undefined) state.variables.push(index);
    else state.variablesBytes -= variable.length + 4 + kept.outputBytes;
    node.kept = undefined;
    state.variablesBytes += variable.length + 4 + node.outputBytes;
  }
}

function fail(state: RunState, index: number): void {
  state.hasFailures = true;
  state.firstFailedNode ??= index;
  if (state.graph.nodes[index]?.definition.errorHandling === "fail_workflow")
    state.fatalNode ??= index;
}

function settle(state: RunState, index: number, node: NodeState, event: NodeFact): void {
  if (isSettled(node.status)) throw corrupt(event, "settles a node that is settled already");
  leave(node, event);
  if (node.scope !== undefined) closeScope(node.scope);
  state.unsettledCount--;
  state.frontier.delete(index);
  for (const edge of state.graph.nodes[index]?.outgoing ?? []) {
    const child = state.nodes[edge.target];
    if (child === undefined) continue;
    child.settledParents++;
    const effect = edgeEffect(node, edge);
    if (effect === "taken") child.takenParents++;
    if (effect === "failed") child.failedParents++;
    if (child.status !== "pending") continue;
    child.causeSeq = event.seq;
    state.frontier.add(edge.target);
  }
}

/** Puts the first nodes of the run on the frontier. */
function admit(state: RunState): void {
  state.status = "running";
  state.isAdmitted = true;
  for (const root of state.graph.roots) state.frontier.add(root);
}

function end(state: RunState, event: RunFact): void {
  state.status = runStatusAfter(event) ?? state.status;
  state.message = reasonText(event);
  state.pause = undefined;
  state.ending = undefined;
  state.endedAt = event.at;
  clearWork(state);
}
