// The fold of one iteration of a map or a loop. The scope keeps counters, so that the planner never looks at the items; each
// event costs the same however wide the scope is.
//
//   (none) ─queued▶ queued ─started▶ running ─completed | failed | timed_out | cancelled▶ settled, with retries between

import { utf8Bytes } from "../data/utf8.ts";
import { isSettled, type FactOf, type NodeStatus } from "./event.ts";
import type { NodeFact } from "./fold.ts";
import { move, reported } from "./move.ts";
import { newExecutionState } from "./new-run-state.ts";
import type { ExecutionState, RunState, ScopeState } from "./state.ts";

/** The scope that `node.expanded` opens. */
export function openScope({ payload, value }: FactOf<"node.expanded">): ScopeState {
  return {
    width: payload.width,
    isCut: payload.cut === true,
    itemsJson: value ?? "[]",
    items: [],
    openCount: 0,
    settledCount: 0,
    firstFailed: undefined,
    isStopped: false,
    outputBytes: 2,
    releaseAt: undefined,
  };
}

/** The node has settled: what its iterations gave is in its own output, or of no use any more. */
export function closeScope(scope: ScopeState): void {
  scope.itemsJson = "";
  for (const item of scope.items) item.output = undefined;
}

/** Moves one iteration past `event`; what is wrong with the log, if anything. */
export function applyToItem(state: RunState, index: number, event: NodeFact): string | undefined {
  const node = state.nodes[index];
  const scope = node?.scope;
  if (node === undefined || scope === undefined) return "is an iteration of a node that has none";
  const at = event.iteration - 1;
  if (event.type === "node.queued" && at === scope.items.length && at < scope.width) {
    scope.items.push(newExecutionState());
    scope.openCount++;
  }
  const item = scope.items[at];
  if (item === undefined) return "names an iteration that was not queued";
  if (isSettled(item.status)) return "moves an iteration that is settled already";
  state.scopes.add(index);
  const fault = moveItem(state, scope, item, event);
  item.causeSeq = event.seq;
  // An iteration that is over makes room for the next one, or ends the node.
  if (isSettled(item.status)) node.causeSeq = event.seq;
  return fault;
}

function moveItem(
  state: RunState,
  scope: ScopeState,
  item: ExecutionState,
  event: NodeFact,
): string | undefined {
  switch (event.type) {
    case "node.queued":
    case "node.started":
    case "run.recovered":
    case "node.retried":
    case "node.blocked":
    case "node.decided":
      move(item, event);
      return undefined;
    case "node.completed":
      complete(scope, item, event);
      return settle(scope, item, "completed", event);
    case "node.failed":
    case "node.timed_out":
      state.hasFailures = true;
      item.message =
        event.type === "node.failed"
          ? event.payload.message
          : `timed out after ${event.payload.timeoutMs} ms`;
      return settle(scope, item, event.type === "node.failed" ? "failed" : "timed_out", event);
    case "node.cancelled":
      item.message = event.payload.reason;
      return settle(scope, item, "cancelled", event);
    case "node.skipped":
    case "node.invalidated":
    case "node.expanded":
    default:
      return "cannot happen to an iteration";
  }
}

function complete(
  scope: ScopeState,
  item: ExecutionState,
  event: FactOf<"node.completed"> & { readonly at: number },
): void {
  const { queueDelayMs, stop } = event.payload;
  item.output = event.value ?? "null";
  item.outputBytes = utf8Bytes(item.output);
  item.message = undefined;
  scope.outputBytes += item.outputBytes + 1;
  if (stop === true) scope.isStopped = true;
  if (queueDelayMs !== undefined)
    scope.releaseAt = Math.max(scope.releaseAt ?? 0, event.at + queueDelayMs);
}

function settle(
  scope: ScopeState,
  item: ExecutionState,
  status: NodeStatus,
  event: NodeFact,
): undefined {
  item.status = status;
  item.settledAt = event.at;
  item.notBefore = undefined;
  item.childRunId = undefined;
  item.hold = undefined;
  reported(item, event.epoch);
  scope.openCount--;
  scope.settledCount++;
  if (status !== "completed") {
    scope.firstFailed ??= event.iteration;
    scope.outputBytes += "null,".length;
  }
}
