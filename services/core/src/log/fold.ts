// (state, event) → state: what the log means to the scheduler. `apply` changes the state in place; the caller owns it. The
// scheduler, GetRun and the explanations fold with it. Clients fold with `view.ts`; both take the statuses from the event table.
//
// Node states and the events that move them:
//   pending ─queued▶ queued ─started▶ running ─completed | failed | timed_out▶ settled
//   running ─retried▶ retrying ─queued▶ queued            (next attempt)
//   running ─run.recovered▶ retrying ─queued▶ queued      (same attempt; an executor lost the delivery)
//   running ─expanded | blocked▶ waiting                  (for its iterations, its child run or a person)
//   waiting ─decided▶ waiting ─completed | queued | failed▶ …           (a person has decided)
//   pending ─skipped | failed(upstream)▶ settled          any unsettled ─cancelled▶ settled
//   pending | queued ─completed | failed | expanded▶ …    (a glue node, which the scheduler completes itself)
//   settled ─invalidated▶ pending                         (the next round, which `round.ts` begins)
// Iterations of a map or a loop (behind the iteration of their node) move the same way; `fold-item.ts` folds them.
// When a node settles, the fold updates the join counters of its children and puts the pending ones on the frontier. The planner
// looks only at the frontier.

import { utf8Bytes } from "../data/utf8.ts";
import type { Graph } from "../definition/graph.ts";
import { EngineError } from "../fault/engine-error.ts";
import { invariant, unreachable } from "../fault/invariant.ts";
import type { RunId } from "../name/ids.ts";
import { changeStatus, keepClock } from "./clock.ts";
import { edgeEffect, JUMPED } from "./edge-effect.ts";
import { isSettled, type EventType, type FactOf, type LoggedFact } from "./event.ts";
import { type EVENTS, rowOf } from "./event-table.ts";
import { applyToItem, closeScope } from "./fold-item.ts";
import { reasonText, runStatusAfter } from "./meaning.ts";
import { remember } from "./memory.ts";
import { beginInline, leave, move } from "./move.ts";
import { beginRound, enter, noteJump } from "./round.ts";
import { newRunState, newScopeState, type NodeState, type RunState } from "./state.ts";

export { newRunState } from "./state.ts";

type TypeWith<Field> = {
  [T in EventType]: (typeof EVENTS)[T] extends Field ? T : never;
}[EventType];

/** A fact that moves one node execution. */
export type NodeFact = Extract<
  LoggedFact,
  { readonly type: TypeWith<{ readonly node: string } | { readonly isAboutNode: true }> }
>;

/** A fact that gives the run a status. */
type RunFact = Extract<
  LoggedFact,
  { readonly type: TypeWith<{ readonly run: string } | { readonly runOf: unknown }> }
>;

/** The state after `events`, the whole log of a run in order of seq. */
export function fold(runId: RunId, graph: Graph, events: Iterable<LoggedFact>): RunState {
  const state = newRunState(runId, graph);
  for (const event of events) apply(state, event);
  return state;
}

/**
 * Moves `state`, which the caller owns, past `event`.
 * @throws EVENT_LOG_CORRUPTION when the event names an unknown node or settles a node twice.
 */
export function apply(state: RunState, event: LoggedFact): void {
  if (isNodeFact(event)) applyToNode(state, event);
  else if (isRunFact(event)) applyToRun(state, event);
  remember(state, event);
  state.lastSeq = event.seq;
  keepClock(state, event.at);
}

function isNodeFact(event: LoggedFact): event is NodeFact {
  const row = rowOf(event.type);
  invariant(row !== undefined, `the event type ${event.type} is in the table`);
  return row.node !== undefined || row.isAboutNode === true;
}

const isRunFact = (event: LoggedFact): event is RunFact => runStatusAfter(event) !== undefined;

function applyToRun(state: RunState, event: RunFact): void {
  switch (event.type) {
    case "run.started":
      state.slot = event.payload.slot;
      state.rate = event.payload.rate;
      state.kind = event.payload.kind;
      state.deadlineAt = event.payload.deadlineAt;
      state.firstDeadlineAt = event.payload.deadlineAt;
      state.parent = event.payload.parent;
      state.depth = event.payload.depth ?? 0;
      state.maxIterations = event.payload.maxIterations ?? state.maxIterations;
      state.startedAt = event.at;
      state.input = event.value ?? "null";
      state.inputBytes = utf8Bytes(state.input);
      if (runStatusAfter(event) === "running") admit(state);
      break;
    case "run.status.changed":
      if (event.payload.to === "running" && !state.isAdmitted) admit(state);
      changeStatus(state, event);
      break;
    case "run.completed":
      state.output = event.value;
      state.hasFailures = event.payload.hasFailures;
      end(state, event);
      break;
    case "run.failed":
    case "run.cancelled":
    case "run.timed_out":
      end(state, event);
      break;
    default:
      unreachable(event, "run event type");
  }
}

function applyToNode(state: RunState, event: NodeFact): void {
  const index = event.nodeId === "" ? undefined : state.graph.indexOf.get(event.nodeId);
  const node = index === undefined ? undefined : state.nodes[index];
  if (index === undefined || node === undefined) throw corrupt(event, "names an unknown node");
  count(state, node, event.iteration, -1);
  if (event.iteration !== node.base) {
    const fault = applyToItem(state, index, event);
    if (fault !== undefined) throw corrupt(event, fault);
  } else applyToWhole(state, index, node, event);
  count(state, node, event.iteration, 1);
}

const ACTIVE: ReadonlySet<string> = new Set(["queued", "running", "retrying"]);

/** Adds an execution to the run's counters by its present status, or removes it. */
function count(state: RunState, node: NodeState, iteration: number, step: 1 | -1): void {
  const isWhole = iteration === node.base;
  const execution = isWhole ? node : node.scope?.items[iteration - node.base - 1];
  if (execution === undefined) return;
  if (ACTIVE.has(execution.status)) state.activeCount += step;
  if (execution.status !== "waiting") return;
  // A node that waits for its own iterations does not count as blocked. The fold counts the iterations themselves.
  if (!isWhole || node.scope === undefined) state.blockedCount += step;
  if (execution.childRunId !== undefined) state.childCount += step;
}

function applyToWhole(state: RunState, index: number, node: NodeState, event: NodeFact): void {
  const wasPending = node.status === "pending";
  if (wasPending && state.jumps.length > 0) enter(state, index, node);
  const isBegun = event.type === "node.queued" || beginInline(node, event);
  if (wasPending && isBegun && state.graph.nodes[index]?.definition.late === "cancel")
    state.firedJoins.add(index);
  switch (event.type) {
    case "node.queued":
      state.frontier.delete(index);
      move(node, event);
      break;
    case "node.started":
    case "run.recovered":
    case "node.retried":
    case "node.blocked":
    case "node.decided":
      move(node, event);
      break;
    case "node.expanded":
      move(node, event);
      node.scope = newScopeState(
        event.payload.width,
        event.payload.cut === true,
        event.value ?? "[]",
      );
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
      break;
    case "node.cancelled":
    case "node.skipped":
      settle(state, index, node, event);
      break;
    default:
      unreachable(event, "node event type");
  }
  node.causeSeq = event.seq;
}

function complete(
  state: RunState,
  index: number,
  node: NodeState,
  event: FactOf<"node.completed"> & { readonly at: number },
): void {
  const { handle, queueDelayMs, goto } = event.payload;
  node.handle = goto === undefined ? handle : JUMPED;
  node.output = event.value ?? "null";
  node.outputBytes = utf8Bytes(node.output);
  if (queueDelayMs !== undefined) node.releaseAt = event.at + queueDelayMs;
  if (handle === "error") state.hasFailures = true;
  noteJump(state, index, node, goto);
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
  state.endedAt = event.at;
  state.frontier.clear();
  state.scopes.clear();
  state.firedJoins.clear();
  state.jumps = [];
  state.fatalNode = undefined;
}

const corrupt = (event: LoggedFact, what: string): EngineError =>
  new EngineError("EVENT_LOG_CORRUPTION", `event ${event.seq} (${event.type}) ${what}`, {
    metadata: { seq: String(event.seq), type: event.type, node_id: event.nodeId },
  });
