// (state, event) → state: the one meaning of the log. `apply` changes the state it is given, which its caller owns; the
// scheduler, the console, `verify` and the tests all fold with it.
//
// Node states and what moves them:
//   pending ─queued▶ queued ─started▶ running ─completed | failed | timed_out▶ settled
//   running ─retried▶ retrying ─queued▶ queued            (next attempt)
//   running ─run.recovered▶ retrying ─queued▶ queued      (same attempt, a delivery was lost)
//   running ─expanded | blocked▶ waiting                  (for its iterations, its child run or a person)
//   waiting ─decided▶ waiting ─completed | queued | failed▶ …           (a person has decided)
//   pending ─skipped | failed(upstream)▶ settled          any unsettled ─cancelled▶ settled
// Iterations of a map or a loop (iteration from 1) move the same way; `fold-item.ts` does them.
// When a node settles, the join counters of its children move and the pending ones enter the frontier: that is all the
// planner ever looks at.

import { utf8Bytes } from "../data/utf8.ts";
import type { Graph } from "../definition/graph.ts";
import { EngineError } from "../fault/engine-error.ts";
import { unreachable } from "../fault/invariant.ts";
import type { RunId } from "../name/ids.ts";
import { changeStatus, keepClock } from "./clock.ts";
import { edgeEffect } from "./edge-effect.ts";
import { isSettled, type FactOf, type LoggedFact, type NodeStatus } from "./event.ts";
import { applyToItem, closeScope, openScope } from "./fold-item.ts";
import { move, reported } from "./move.ts";
import { newRunState } from "./new-run-state.ts";
import type { NodeState, RunState } from "./state.ts";

export { newRunState } from "./new-run-state.ts";

/** The state after `events`, which are the whole log of a run in order of seq. */
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
  switch (event.type) {
    case "run.started":
      state.slot = event.payload.slot;
      state.rate = event.payload.rate;
      state.kind = event.payload.kind;
      state.deadlineAt = event.payload.deadlineAt;
      state.firstDeadlineAt = event.payload.deadlineAt;
      state.parent = event.payload.parent;
      state.depth = event.payload.depth ?? 0;
      state.startedAt = event.at;
      state.input = event.value ?? "null";
      state.inputBytes = utf8Bytes(state.input);
      if (state.slot === undefined && state.rate === undefined) admit(state);
      break;
    case "run.status.changed":
      if (event.payload.to === "running" && !state.isAdmitted) admit(state);
      changeStatus(state, event);
      break;
    case "run.completed":
      state.output = event.value;
      state.hasFailures = event.payload.hasFailures;
      end(state, "completed", event.at);
      break;
    case "run.failed":
      state.message = event.payload.message;
      end(state, "failed", event.at);
      break;
    case "run.cancelled":
      state.message = event.payload.reason;
      end(state, "cancelled", event.at);
      break;
    case "run.timed_out":
      state.message = "the run passed its deadline";
      end(state, "timeout", event.at);
      break;
    case "run.metadata.set":
    case "node.stream.delta":
    case "node.log":
    case "moderation.flagged":
    case "contract.violated":
      break;
    case "run.recovered":
    case "node.queued":
    case "node.started":
    case "node.retried":
    case "node.completed":
    case "node.failed":
    case "node.cancelled":
    case "node.skipped":
    case "node.timed_out":
    case "node.blocked":
    case "node.decided":
    case "node.invalidated":
    case "node.expanded":
      applyToNode(state, event);
      break;
    default:
      unreachable(event, "event type");
  }
  state.lastSeq = event.seq;
  keepClock(state, event.at);
}

/** A fact about one execution. */
export type NodeFact = Extract<
  LoggedFact,
  {
    readonly type:
      | "run.recovered"
      | "node.queued"
      | "node.started"
      | "node.retried"
      | "node.completed"
      | "node.failed"
      | "node.cancelled"
      | "node.skipped"
      | "node.timed_out"
      | "node.blocked"
      | "node.decided"
      | "node.invalidated"
      | "node.expanded";
  }
>;

function applyToNode(state: RunState, event: NodeFact): void {
  const index = event.nodeId === "" ? undefined : state.graph.indexOf.get(event.nodeId);
  const node = index === undefined ? undefined : state.nodes[index];
  if (index === undefined || node === undefined) throw corrupt(event, "names an unknown node");
  count(state, node, event.iteration, -1);
  if (event.iteration > 0) {
    const fault = applyToItem(state, index, event);
    if (fault !== undefined) throw corrupt(event, fault);
  } else applyToWhole(state, index, node, event);
  count(state, node, event.iteration, 1);
}

/** Takes an execution out of the run's counters, or puts it in as it stands now. */
function count(state: RunState, node: NodeState, iteration: number, step: 1 | -1): void {
  const execution = iteration === 0 ? node : node.scope?.items[iteration - 1];
  switch (execution?.status) {
    case "queued":
    case "running":
    case "retrying":
      state.activeCount += step;
      return;
    case "waiting":
      // A node that waits for its own iterations is neither: they are counted themselves.
      if (iteration > 0 || node.scope === undefined) state.blockedCount += step;
      if (execution.childRunId !== undefined) state.childCount += step;
      return;
    case "pending":
    case "completed":
    case "failed":
    case "timed_out":
    case "cancelled":
    case "skipped":
    case "invalidated":
    case undefined:
    default:
  }
}

function applyToWhole(state: RunState, index: number, node: NodeState, event: NodeFact): void {
  switch (event.type) {
    case "node.queued":
      state.frontier.delete(index);
      if (state.graph.nodes[index]?.definition.late === "cancel") state.firedJoins.add(index);
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
      node.status = "waiting";
      node.scope = openScope(event);
      reported(node, event.epoch);
      state.scopes.add(index);
      break;
    case "node.invalidated":
      // What was decided on the old output stands; only the output itself is withdrawn.
      node.status = "invalidated";
      node.output = undefined;
      node.message = event.payload.reason;
      break;
    case "node.completed":
      complete(state, index, node, event);
      settle(state, index, node, "completed", event);
      break;
    case "node.failed":
      node.message = event.payload.message;
      fail(state, index);
      settle(state, index, node, "failed", event);
      break;
    case "node.timed_out":
      node.message = `timed out after ${event.payload.timeoutMs} ms`;
      fail(state, index);
      settle(state, index, node, "timed_out", event);
      break;
    case "node.cancelled":
      node.message = event.payload.reason;
      settle(state, index, node, "cancelled", event);
      break;
    case "node.skipped":
      node.message = event.payload.reason;
      settle(state, index, node, "skipped", event);
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
  const { handle, queueDelayMs } = event.payload;
  node.handle = handle;
  node.output = event.value ?? "null";
  node.outputBytes = utf8Bytes(node.output);
  node.message = undefined;
  if (queueDelayMs !== undefined) node.releaseAt = event.at + queueDelayMs;
  if (handle === "error") state.hasFailures = true;
  const variable = state.graph.nodes[index]?.definition.outputVariable ?? null;
  if (variable !== null) {
    state.variables.push(index);
    state.variablesBytes += variable.length + 4 + node.outputBytes;
  }
}

function fail(state: RunState, index: number): void {
  state.hasFailures = true;
  state.firstFailedNode ??= index;
  if (state.graph.nodes[index]?.definition.errorHandling === "fail_workflow")
    state.fatalNode ??= index;
}

function settle(
  state: RunState,
  index: number,
  node: NodeState,
  status: NodeStatus,
  event: NodeFact,
): void {
  if (isSettled(node.status)) throw corrupt(event, "settles a node that is settled already");
  node.status = status;
  node.settledAt = event.at;
  node.notBefore = undefined;
  node.childRunId = undefined;
  node.hold = undefined;
  if (node.scope !== undefined) closeScope(node.scope);
  reported(node, event.epoch);
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

/** Lets the planner at the run's first nodes. */
function admit(state: RunState): void {
  state.status = "running";
  state.isAdmitted = true;
  for (const root of state.graph.roots) state.frontier.add(root);
}

function end(state: RunState, status: RunState["status"], at: number): void {
  state.status = status;
  state.pause = undefined;
  state.endedAt = at;
  state.frontier.clear();
  state.scopes.clear();
  state.firedJoins.clear();
  state.fatalNode = undefined;
}

const corrupt = (event: LoggedFact, what: string): EngineError =>
  new EngineError("EVENT_LOG_CORRUPTION", `event ${event.seq} (${event.type}) ${what}`, {
    metadata: { seq: String(event.seq), type: event.type, node_id: event.nodeId },
  });
