// Folds an event into one iteration of a map or a loop. The scope keeps counters, so the planner never reads the items and an event
// costs the same in a wide scope as in a narrow one.
//
//   (none) ─completed | failed▶ settled                   (a glue body, which the scheduler completes itself)
//   (none) ─queued▶ queued ─started▶ running ─completed | failed | timed_out | cancelled▶ settled, with retries between

import { utf8Bytes } from "../data/utf8.ts";
import { isSettled, type FactOf } from "./event.ts";
import type { NodeFact } from "./fold.ts";
import { isSettlingType } from "./meaning.ts";
import { beginInline, leave, move } from "./move.ts";
import { newExecutionState, type ExecutionState, type RunState, type ScopeState } from "./state.ts";

/** Frees the items and outputs of a settled node: its own output holds them, or no node needs them. */
export function closeScope(scope: ScopeState): void {
  scope.itemsJson = "";
  for (const item of scope.items) item.output = undefined;
}

/** The types of the first event of an iteration: queued, or completed by the scheduler itself. */
const BEGINS: ReadonlySet<string> = new Set(["node.queued", "node.completed", "node.failed"]);

/** Moves one iteration past `event`. Returns the fault of a log that is wrong. */
export function applyToItem(state: RunState, index: number, event: NodeFact): string | undefined {
  const node = state.nodes[index];
  const scope = node?.scope;
  if (node === undefined) return "names an unknown node";
  const at = event.iteration - node.base - 1;
  if (at < 0) return "is of a round that is over";
  if (scope === undefined) return "is an iteration of a node that has none";
  if (BEGINS.has(event.type) && at === scope.items.length && at < scope.width) {
    scope.items.push(newExecutionState());
    scope.openCount++;
  }
  const item = scope.items[at];
  if (item === undefined) return "names an iteration that was not queued";
  if (isSettled(item.status)) return "moves an iteration that is settled already";
  state.scopes.add(index);
  if (NEVER.has(event.type)) return "cannot happen to an iteration";
  beginInline(item, event);
  if (event.type === "node.completed") complete(scope, item, event);
  if (event.type === "node.failed" || event.type === "node.timed_out") state.hasFailures = true;
  if (isSettlingType(event.type)) settle(scope, item, { event, at });
  else move(item, event);
  item.causeSeq = event.seq;
  // A settled iteration lets the scheduler queue the next one, or settles the node.
  if (isSettled(item.status)) node.causeSeq = event.seq;
  return undefined;
}

/** An iteration is never skipped and has no iterations of its own. */
const NEVER: ReadonlySet<string> = new Set(["node.skipped", "node.invalidated", "node.expanded"]);

function complete(
  scope: ScopeState,
  item: ExecutionState,
  event: FactOf<"node.completed"> & { readonly at: number },
): void {
  const { queueDelayMs, stop } = event.payload;
  item.output = event.value ?? "null";
  item.outputBytes = utf8Bytes(item.output);
  scope.outputBytes += item.outputBytes + 1;
  if (stop === true) scope.isStopped = true;
  if (queueDelayMs !== undefined)
    scope.releaseAt = Math.max(scope.releaseAt ?? 0, event.at + queueDelayMs);
}

function settle(
  scope: ScopeState,
  item: ExecutionState,
  { event, at }: { readonly event: NodeFact; readonly at: number },
): void {
  leave(item, event);
  scope.openCount--;
  scope.settledCount++;
  if (item.status !== "completed") {
    scope.firstFailed ??= at + 1;
    scope.outputBytes += "null,".length;
  }
}
