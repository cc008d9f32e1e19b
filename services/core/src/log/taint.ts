// The labels of values in a run. The log has the labels of every value beside the value. A value that is made from labelled values has their
// labels; this file says which values an execution reads. A run whose values have no labels pays for one comparison.
//
// Race: an execution reads its context when an executor claims it, and another node may replace a value before it completes. So the labels
// of its reads are in `node.started`. Its output gets these labels, and not those of the values at its end.

import { nodeReads } from "../definition/reads.ts";
import type { ContextReads, NodeDefinition } from "../definition/shape.ts";
import { AWAIT_SIGNAL } from "../definition/signal-config.ts";
import { INPUT_LABEL, joinTaint, sourceLabel, type Taint, withoutLabels } from "../policy/taint.ts";
import { outputNodes } from "./context.ts";
import { edgeEffect } from "./edge-effect.ts";
import type { LoggedFact } from "./event.ts";
import { bodyAt, executionAt, executionDefinition, isItem, partOf } from "./execution.ts";
import { readEntries } from "./memory.ts";
import type { ExecutionState, RunState } from "./state.ts";
import { undoAt } from "./undo.ts";
import { isUndo } from "./undo-iteration.ts";

/** Notes the labels that an event gives to values. */
export function noteTaint(state: RunState, event: LoggedFact): void {
  const { policies } = state.graph.definition;
  if (event.type === "node.queued") {
    if (policies.length > 0 && state.taintLabels.size > 0 && wasBegun(state, event))
      state.isTaintMoved = true;
    return;
  }
  const taint = taintIn(event);
  if (taint === undefined) return;
  for (const { label } of taint) state.taintLabels.add(label);
  if (policies.length > 0 && isReadable(state, event)) state.isTaintMoved = true;
}

function taintIn(event: LoggedFact): Taint | undefined {
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- other types make no value
  switch (event.type) {
    case "run.started":
    case "run.completed":
    case "node.completed":
    case "node.expanded":
    case "node.retried":
    case "node.failed":
    case "node.timed_out":
      return event.payload.taint;
    case "memory.updated":
    case "run.thread.taken":
      return event.payload.taint && Object.values(event.payload.taint).flat();
    default:
      return undefined;
  }
}

/** Whether the execution was claimed or held before: its data may have changed since a policy was last compared with it. */
function wasBegun(state: RunState, { nodeId, iteration }: LoggedFact): boolean {
  const index = nodeId === "" ? -1 : (state.graph.indexOf.get(nodeId) ?? -1);
  const { epoch = 0, decided } = executionAt(state, index, iteration) ?? {};
  return epoch > 0 || decided !== undefined;
}

/** Whether other executions may read the value. The output of an item is only for its node and for the next item. */
function isReadable(state: RunState, { type, nodeId, iteration }: LoggedFact): boolean {
  if (type === "memory.updated" || type === "run.thread.taken") return true;
  const index = nodeId === "" ? -1 : (state.graph.indexOf.get(nodeId) ?? -1);
  return type === "node.completed" && !isItem(state, index, iteration);
}

/** A labelled value that an execution reads. */
interface TaintedRead {
  readonly from: "input" | "node" | "variable" | "memory" | "item" | "previous";
  /** The id of the node, the variable or the key. Empty for the others. */
  readonly name: string;
  /** The node that made the value; -1 for the input and for the memory. */
  readonly nodeIndex: number;
  readonly taint: Taint;
}

const readsOf = (definition: NodeDefinition, body: NodeBody | undefined): ContextReads =>
  body?.reads ?? nodeReads(definition);

const isRead = (names: ReadonlySet<string> | "all", name: string): boolean =>
  names === "all" || names.has(name);

const NONE: readonly TaintedRead[] = [];

/** The labelled values from which an execution would make its output if it began now. */
export function taintedReads(
  state: RunState,
  nodeIndex: number,
  iteration: number,
): readonly TaintedRead[] {
  const node = state.graph.nodes[nodeIndex];
  if (state.taintLabels.size === 0 || node === undefined) return NONE;
  if (isUndo(iteration)) return undoReads(state, nodeIndex, iteration);
  const { definition, incoming } = node;
  const body = bodyAt(definition, partOf(state, nodeIndex, iteration));
  const reads = readsOf(definition, body);
  const found: TaintedRead[] = [];
  const add = (read: Omit<TaintedRead, "taint">, taint: Taint | undefined): void => {
    if (taint !== undefined && taint.length > 0) found.push({ ...read, taint });
  };
  const { input } = body ?? definition;
  const isRoot = reads.params && input === undefined && incoming.length === 0;
  if (reads.input || isRoot) add({ from: "input", name: "", nodeIndex: -1 }, state.inputTaint);
  for (const [index, taint] of parentsRead(state, nodeIndex, reads))
    add({ from: "node", name: idOf(state, index), nodeIndex: index }, taint);
  for (const index of state.variables) {
    const name = state.graph.nodes[index]?.definition.outputVariable ?? null;
    const made = state.nodes[index];
    if (name === null || !isRead(reads.vars, name)) continue;
    const taint = made?.output === undefined ? made?.kept?.taint : made.taint;
    add({ from: "variable", name, nodeIndex: index }, taint);
  }
  for (const [name, { taint }] of readEntries(state, definition.readKeys, reads.memory))
    add({ from: "memory", name, nodeIndex: -1 }, taint);
  return body === undefined ? found : [...found, ...itemReads(state, nodeIndex, iteration)];
}

type NodeBody = NonNullable<ReturnType<typeof bodyAt>>;

/**
 * What an iteration reads of its own scope. An item of a map reads its item, one of a loop also the output before it. A turn of an agent reads
 * the opening and everything before it, and a tool call reads the answer of its turn.
 */
function itemReads(state: RunState, nodeIndex: number, iteration: number): TaintedRead[] {
  const { scope, base = 0 } = state.nodes[nodeIndex] ?? {};
  if (scope === undefined) return [];
  const at = iteration - base - 1;
  const { agent, hasPrevious } = state.graph.nodes[nodeIndex]?.definition.scope ?? {};
  const items = { from: "item", name: "", nodeIndex, taint: scope.itemsTaint ?? [] } as const;
  const read = (each: number): TaintedRead => {
    const made = itemTaint(state, nodeIndex, base + each + 1, scope.items[each]);
    return { from: "item", name: String(each + 1), nodeIndex, taint: made ?? [] };
  };
  const call = scope.calls[at] ?? null;
  const reads: TaintedRead[] = [items];
  if (agent !== undefined && call !== null) reads.splice(0, 1, read(call.turn));
  else if (agent !== undefined) reads.push(...Array.from({ length: at }, (_, each) => read(each)));
  else if (hasPrevious === true)
    reads.push({ from: "previous", name: "", nodeIndex, taint: scope.items[at - 1]?.taint ?? [] });
  return reads.filter(({ taint }) => taint.length > 0);
}

/** The labels of what an iteration made. The message of a failed one may quote what it read. */
export function itemTaint(
  state: RunState,
  nodeIndex: number,
  iteration: number,
  item: ExecutionState | undefined,
): Taint | undefined {
  if (item === undefined || item.status === "completed") return item?.taint;
  return joinTaint(item.readTaint, ownTaint(state, nodeIndex, iteration));
}

/** A compensation reads the input of the run, and the output that it undoes. No policy stops it: it undoes what a policy let happen. */
function undoReads(state: RunState, nodeIndex: number, iteration: number): readonly TaintedRead[] {
  const given = undoAt(state, nodeIndex, iteration)?.givenTaint ?? [];
  const reads: readonly TaintedRead[] = [
    { from: "input", name: "", nodeIndex: -1, taint: state.inputTaint ?? [] },
    { from: "node", name: idOf(state, nodeIndex), nodeIndex, taint: given },
  ];
  return reads.filter(({ taint }) => taint.length > 0);
}

const idOf = ({ graph }: RunState, index: number): string =>
  graph.nodes[index]?.definition.id ?? "";

/** The parents whose output the execution reads, and the node whose jump began this round. */
function parentsRead(
  state: RunState,
  nodeIndex: number,
  reads: ContextReads,
): ReadonlyMap<number, Taint | undefined> {
  const found = new Map<number, Taint | undefined>();
  for (const edge of state.graph.nodes[nodeIndex]?.incoming ?? []) {
    const source = state.nodes[edge.source];
    if (source === undefined || source.taint === undefined) continue;
    const isBound = reads.params && edge.definition.targetParamLabel !== null;
    if (!isBound && !isRead(reads.nodes, edge.definition.source)) continue;
    if (edgeEffect(source, edge) === "taken") found.set(edge.source, source.taint);
  }
  const entry = state.nodes[nodeIndex]?.entry;
  if (entry !== undefined && (reads.params || isRead(reads.nodes, idOf(state, entry.source))))
    found.set(entry.source, entry.taint);
  return found;
}

/** The labels of the data that an execution would read if it began now, without those that a person dropped for it. */
export function readTaint(
  state: RunState,
  nodeIndex: number,
  iteration: number,
): Taint | undefined {
  const reads = taintedReads(state, nodeIndex, iteration);
  if (reads.length === 0) return undefined;
  const dropped = executionAt(state, nodeIndex, iteration)?.dropped ?? [];
  return withoutLabels(joinTaint(...reads.map(({ taint }) => taint)), new Set(dropped));
}

/** The labels of the data that an execution has read: with its claim, or now if the scheduler completes it without a claim. */
export function takenTaint(
  state: RunState,
  nodeIndex: number,
  iteration: number,
): Taint | undefined {
  const execution = executionAt(state, nodeIndex, iteration);
  const isClaimed = execution?.status === "running" || execution?.status === "waiting";
  return isClaimed ? execution.readTaint : readTaint(state, nodeIndex, iteration);
}

/** The labels that outputs of an execution have whatever it reads: by its type, and by its author. */
export function ownTaint(state: RunState, nodeIndex: number, iteration: number): Taint | undefined {
  const definition = state.graph.nodes[nodeIndex]?.definition;
  if (definition === undefined) return undefined;
  const { type, config } = executionDefinition(state, nodeIndex, iteration);
  const { hasUntrustedInput } = state.graph.definition;
  // A signal is an input that comes later.
  const isSignal = type === AWAIT_SIGNAL && hasUntrustedInput;
  const source = isSignal ? INPUT_LABEL : sourceLabel(type, config);
  if (source === undefined && definition.taint === undefined) return undefined;
  const labels = [...(source === undefined ? [] : [source]), ...(definition.taint ?? [])];
  return [...new Set(labels)].map((label) => ({ label, nodeId: definition.id }));
}

/** The labels of the output of a run whose nodes are all settled. */
export const runOutputTaint = (state: RunState): Taint | undefined =>
  state.taintLabels.size === 0
    ? undefined
    : joinTaint(...outputNodes(state).map((index) => state.nodes[index]?.taint));
