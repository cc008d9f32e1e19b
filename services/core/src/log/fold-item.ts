// Folds an event into one iteration of a map or a loop, or into one turn or tool call of an agent. The scope keeps counters, so the planner
// never reads the items of a map and an event costs the same in a wide scope as in a narrow one.
//
// The iterations of an agent follow from the log: the first is a turn. The calls that a completed turn asks for come next, in their order.
// When all of them have settled, the next iteration is a turn again. A turn without calls is the last.
//
//   (none) ─completed | failed▶ settled                   (a glue body, which the scheduler completes itself)
//   (none) ─blocked▶ waiting ─completed | failed | cancelled▶ settled    (a body that waits for a signal)
//   (none) ─queued▶ queued ─started▶ running ─completed | failed | timed_out | cancelled▶ settled, with retries between

import { utf8Bytes } from "../data/utf8.ts";
import { isSettled, type Completion, type FactOf } from "./event.ts";
import type { NodeFact } from "./fact-kind.ts";
import { addUsage } from "./usage.ts";
import { isSettlingType } from "./meaning.ts";
import { beginInline, leave, move } from "./move.ts";
import { newScopeState, type ScopeState } from "./scope-state.ts";
import { newExecutionState, type ExecutionState, type RunState } from "./state.ts";

/** The scope of a node that has found its items. The first iteration of an agent is a turn. */
export function openScope(
  { graph }: RunState,
  index: number,
  { payload, value = "[]" }: FactOf<"node.expanded">,
): ScopeState {
  const scope = newScopeState(payload.width, payload.cut === true, value);
  if (graph.nodes[index]?.definition.scope?.agent !== undefined) scope.calls.push(null);
  return scope;
}

/**
 * Frees the items and outputs of a settled node: its own output holds them, or no node needs them. Copies of the state share settled items,
 * so the fold replaces them.
 */
export function closeScope(scope: ScopeState): void {
  scope.itemsJson = "";
  scope.items.forEach((item, at) => {
    if (item.output === undefined) return;
    scope.items[at] = Object.assign(newExecutionState(), item, { output: undefined });
  });
}

/** The types of the first event of an iteration: queued, a glue body that ends or waits without a claim, or stopped by a policy. */
const BEGINS: ReadonlySet<string> = new Set([
  "node.queued",
  "node.completed",
  "node.failed",
  "node.blocked",
]);

/** Moves one iteration past `event`. Returns the fault of a log that is wrong. */
export function applyToItem(state: RunState, index: number, event: NodeFact): string | undefined {
  const node = state.nodes[index];
  const scope = node?.scope;
  if (node === undefined) return "names an unknown node";
  const at = event.iteration - node.base - 1;
  if (at < 0) return "is of a round that is over";
  if (scope === undefined) return "is an iteration of a node that has none";
  if (BEGINS.has(event.type)) begin(scope, at, event.payload.reused !== undefined);
  const item = scope.items[at];
  if (item === undefined) return "names an iteration that was not queued";
  if (isSettled(item.status)) return "moves an iteration that is settled already";
  state.scopes.add(index);
  if (NEVER.has(event.type)) return "cannot happen to an iteration";
  beginInline(item, event);
  if (event.type === "node.completed") {
    complete(scope, item, event);
    if (scope.calls[at] === null) answer(state, index, scope, { at, payload: event.payload });
  }
  if (event.type === "node.failed" || event.type === "node.timed_out") state.hasFailures = true;
  if (isSettlingType(event.type)) settle(scope, item, { event, at });
  else move(item, event);
  item.causeSeq = event.seq;
  // A settled iteration lets the scheduler queue the next one, or settles the node.
  if (isSettled(item.status)) node.causeSeq = event.seq;
  return undefined;
}

/** Opens the execution at `at`, if its turn has come. A reused item may leave gaps before it, which the planner fills. */
function begin(scope: ScopeState, at: number, isReused: boolean): void {
  const { items, gaps, calls, width } = scope;
  if (!gaps.delete(at)) {
    const isAhead = isReused && calls.length === 0 && at > items.length && at < width;
    if (!isAhead && (at !== items.length || !mayBegin(scope))) return;
    for (; items.length < at; items.push(newExecutionState())) gaps.add(items.length);
    items.push(newExecutionState());
    if (at === calls.length && at > 0) calls.push(null);
    scope.width = Math.max(width, at + 1);
  }
  scope.openCount++;
}

/** Whether one more iteration may begin: an item of a map or a loop, a call of the last turn, or the turn after all its calls. */
function mayBegin({ items, calls, width, openCount, isStopped }: ScopeState): boolean {
  if (calls.length === 0) return items.length < width;
  return items.length < calls.length || (openCount === 0 && !isStopped);
}

/** An iteration is never skipped and has no iterations of its own. */
const NEVER: ReadonlySet<string> = new Set(["node.skipped", "node.invalidated", "node.expanded"]);

function complete(
  scope: ScopeState,
  item: ExecutionState,
  event: FactOf<"node.completed"> & { readonly at: number },
): void {
  const { queueDelayMs, stop, taint } = event.payload;
  item.output = event.value ?? "null";
  item.taint = taint;
  item.outputBytes = utf8Bytes(item.output);
  scope.outputBytes += item.outputBytes + 1;
  if (stop === true) scope.isStopped = true;
  if (queueDelayMs !== undefined)
    scope.releaseAt = Math.max(scope.releaseAt ?? 0, event.at + queueDelayMs);
}

/** A turn of an agent has its answer: its calls are the next iterations. */
function answer(
  { graph }: RunState,
  index: number,
  scope: ScopeState,
  { at: turn, payload }: { readonly at: number; readonly payload: Completion },
): void {
  const { calls = [], usage } = payload;
  const tools = graph.nodes[index]?.definition.scope?.agent?.tools ?? [];
  scope.usage = addUsage(scope.usage, usage);
  if (calls.length === 0) scope.isStopped = true;
  calls.forEach((call, at) => {
    const tool = tools.findIndex(({ name }) => name === call.name);
    scope.calls.push({ ...call, turn, at, tool });
  });
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
