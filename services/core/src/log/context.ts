// The JSON that the engine sends: a node's context and the run's output. `node-json.ts` has the node's definition. This file joins JSON
// texts and never parses the user's JSON.

import { LIMITS } from "../data/limits.ts";
import { splitArray } from "../data/split-array.ts";
import { exceedsUtf8, utf8Bytes } from "../data/utf8.ts";
import type { Graph } from "../definition/graph.ts";
import { nodeReads } from "../definition/reads.ts";
import type { ContextReads, MemoryReads, NodeDefinition } from "../definition/shape.ts";
import { invariant } from "../fault/invariant.ts";
import { edgeEffect, JUMPED } from "./edge-effect.ts";
import { stepBytes, stepJson } from "./conversation.ts";
import { bodyAt, partOf, unknownNode } from "./execution.ts";
import { memoryBytes, memoryJson } from "./memory.ts";
import { metadataText } from "./metadata.ts";
import { decisionsBytes, decisionsPart } from "./supervisor.ts";
import type { ScopeState } from "./scope-state.ts";
import type { NodeState, RunState } from "./state.ts";
import { undoAt } from "./undo.ts";
import { isUndo } from "./undo-iteration.ts";

/**
 * The context that an execution reads: `{"input", "nodes": {outputs of the parents whose edge was taken, by id}, "vars": {output
 * variables so far}}`. `"handles": {id: handle}` is added for parents that left by a handle, so that bindings of other branches do
 * not apply. `"memory"` is added if the node reads keys of the memory that have values. An iteration gets only the parts that its body
 * names, and its own item. A compensation gets the input, and the output that it undoes as `"vars": {"output"}`.
 */
export function contextJson(state: RunState, nodeIndex: number, iteration: number): string {
  if (isUndo(iteration)) return undoContext(state, nodeIndex, iteration);
  const { definition } = nodeAt(state.graph, nodeIndex);
  const body = bodyAt(definition, partOf(state, nodeIndex, iteration));
  const own =
    body === undefined
      ? decisionsPart(state, definition)
      : itemJson(state, nodeIndex, iteration, definition.scope?.hasPrevious === true);
  return `{${readJson(state, nodeIndex, body?.reads ?? READS_ALL)}${own}}`;
}

/** The members of a context, without those that `reads` does not name. */
export function readJson(state: RunState, nodeIndex: number, reads: ContextReads): string {
  const { definition } = nodeAt(state.graph, nodeIndex);
  let nodes = "";
  let handles = "";
  for (const [index, { output, handle }] of parentsRead(state, nodeIndex, reads)) {
    const { id } = nodeAt(state.graph, index).definition;
    if (output !== undefined) nodes += `${nodes === "" ? "" : ","}${field(id, output)}`;
    if (handle !== undefined && handle !== JUMPED)
      handles += `${handles === "" ? "" : ","}${field(id, JSON.stringify(handle))}`;
  }
  const tail = handles === "" ? "" : `,"handles":{${handles}}`;
  const input = reads.input ? state.input : "null";
  const memory = memoryPart(state, definition.readKeys, reads.memory);
  const vars = `${variables(state, reads.vars)}${purposePart(state, reads.vars)}`;
  return `"input":${input},"nodes":{${nodes}},"vars":${vars}${memory}${tail}`;
}

/** Goal, constraints, metadata and config as members of a context. Templates name them like variables. It is empty if the run has none. */
function purposePart(state: RunState, names: ContextReads["vars"]): string {
  const { goal, constraints } = state;
  let part = "";
  if (goal !== "" && isRead(names, "goal")) part += `,"goal":${JSON.stringify(goal)}`;
  if (constraints.length > 0 && isRead(names, "constraints"))
    part += `,"constraints":${JSON.stringify(constraints)}`;
  const metadata = isRead(names, "metadata") ? metadataText(state) : undefined;
  if (metadata !== undefined) part += `,"metadata":${metadata}`;
  const { config = "{}" } = state.assistant ?? {};
  if (config !== "{}" && isRead(names, "config")) part += `,"config":${config}`;
  return part;
}

function undoContext(state: RunState, nodeIndex: number, iteration: number): string {
  const given = undoAt(state, nodeIndex, iteration)?.given ?? "null";
  return `{"input":${state.input},"nodes":{},"vars":{"output":${given}}}`;
}

/** The memory as a member of a context. It is empty if no key has a value. */
function memoryPart(state: RunState, keys: MemoryReads, named: MemoryReads): string {
  const memory = memoryJson(state, keys, named);
  return memory === "{}" ? "" : `,"memory":${memory}`;
}

const READS_ALL: ContextReads = {
  input: true,
  params: true,
  nodes: "all",
  vars: "all",
  memory: "all",
};

type Given = Pick<NodeState, "output" | "outputBytes" | "handle">;

/**
 * The nodes whose output the execution gets, if the body reads them: parents whose edge was taken, and the node whose jump began
 * this round.
 */
function parentsRead(
  state: RunState,
  nodeIndex: number,
  reads: ContextReads,
): ReadonlyMap<number, Given> {
  const parents = new Map<number, Given>();
  for (const edge of nodeAt(state.graph, nodeIndex).incoming) {
    const source = state.nodes[edge.source];
    if (source === undefined || parents.has(edge.source)) continue;
    if (!reads.params && !isRead(reads.nodes, edge.definition.source)) continue;
    if (edgeEffect(source, edge) === "taken") parents.set(edge.source, source);
  }
  const entry = state.nodes[nodeIndex]?.entry;
  if (entry !== undefined) {
    const { id } = nodeAt(state.graph, entry.source).definition;
    if (reads.params || isRead(reads.nodes, id)) parents.set(entry.source, entry);
  }
  return parents;
}

const isRead = (names: ReadonlySet<string> | "all", name: string): boolean =>
  names === "all" || names.has(name);

/** Items by scope. The log holds them as one text, and this file splits it once. */
const itemTexts = new WeakMap<ScopeState, readonly string[]>();

function itemJson(
  state: RunState,
  nodeIndex: number,
  iteration: number,
  hasPrevious: boolean,
): string {
  const { scope, base = 0 } = state.nodes[nodeIndex] ?? {};
  invariant(scope !== undefined, `node ${nodeIndex} has iterations`);
  const index = iteration - base - 1;
  if (scope.calls.length > 0) return stepJson(scope, index);
  const own = `,"item":${itemText(scope, index)},"index":${index}`;
  if (!hasPrevious) return own;
  return `${own},"previous":${scope.items[index - 1]?.output ?? "null"}`;
}

function itemText(scope: ScopeState, index: number): string {
  let texts = itemTexts.get(scope);
  if (texts === undefined) itemTexts.set(scope, (texts = splitArray(scope.itemsJson)));
  return texts[index] ?? "null";
}

/** An upper bound of the bytes of `contextJson`. Its cost grows with the node's incoming edges and not with the values. */
export function contextBytes(state: RunState, nodeIndex: number, iteration: number): number {
  return bytesOf(state, nodeIndex, iteration, READS_ALL);
}

/** The same for the parts alone that the templates of the execution name. */
export const readBytes = (state: RunState, nodeIndex: number, iteration: number): number =>
  bytesOf(state, nodeIndex, iteration, nodeReads(nodeAt(state.graph, nodeIndex).definition));

function bytesOf(
  state: RunState,
  nodeIndex: number,
  iteration: number,
  named: ContextReads,
): number {
  if (isUndo(iteration)) return utf8Bytes(undoContext(state, nodeIndex, iteration));
  const { definition } = nodeAt(state.graph, nodeIndex);
  const body = bodyAt(definition, partOf(state, nodeIndex, iteration));
  const reads = body?.reads ?? named;
  // 64 bytes hold the keys of the frame. Quotes, a colon and a comma surround each id; ids are ASCII, handles may be escaped.
  let bytes = 64 + (reads.input ? state.inputBytes : 0) + variablesBytes(state, reads.vars);
  bytes += utf8Bytes(purposePart(state, reads.vars));
  bytes += memoryBytes(state, definition.readKeys, reads.memory);
  for (const [index, { outputBytes, handle }] of parentsRead(state, nodeIndex, reads)) {
    const idBytes = nodeAt(state.graph, index).definition.id.length + 4;
    bytes += outputBytes + idBytes;
    if (handle !== undefined) bytes += idBytes + handle.length * 6 + 4;
  }
  if (body === undefined) return bytes + decisionsBytes(state, definition);
  return bytes + itemBytes(state, nodeIndex, iteration);
}

function variablesBytes(state: RunState, names: ContextReads["vars"]): number {
  if (names === "all") return state.variablesBytes;
  let bytes = 0;
  if (names.size === 0) return bytes;
  for (const index of state.variables) {
    const name = nodeAt(state.graph, index).definition.outputVariable;
    if (name === null || !names.has(name)) continue;
    const node = state.nodes[index];
    bytes += name.length + 4 + ((node?.kept ?? node)?.outputBytes ?? 0);
  }
  return bytes;
}

function itemBytes(state: RunState, nodeIndex: number, iteration: number): number {
  const { scope, base = 0 } = state.nodes[nodeIndex] ?? {};
  if (scope === undefined) return 0;
  const index = iteration - base - 1;
  if (scope.calls.length > 0) return 64 + stepBytes(scope, scope.calls[index]);
  const previous = scope.items[index - 1]?.outputBytes ?? 0;
  return 64 + utf8Bytes(itemText(scope, index)) + previous;
}

/** The output of a run whose real output is too large for the log. Clients can still read the outputs of the nodes. */
export const OUTPUT_OMITTED = '{"omitted":"RUN_OUTPUT_TOO_LARGE"}';

/**
 * The run's output: the output of its completed `end` node. With several `end` nodes it is an object by node id. Without any it holds the
 * outputs of the completed leaves by node id.
 */
export function runOutputJson(state: RunState): string {
  const [first = -1, ...others] = outputNodes(state);
  const isEnd = state.graph.nodes[first]?.definition.type === "end";
  const only = isEnd && others.length === 0 ? state.nodes[first]?.output : undefined;
  if (only !== undefined) return only;
  const json = outputsById(state, first === -1 ? [] : [first, ...others]);
  return exceedsUtf8(json, LIMITS.valueBytes) ? OUTPUT_OMITTED : json;
}

/** The nodes whose outputs are the output of the run. */
export function outputNodes({ graph, nodes }: RunState): readonly number[] {
  const completed = graph.leaves.filter((index) => nodes[index]?.status === "completed");
  const ends = completed.filter((index) => nodeAt(graph, index).definition.type === "end");
  return ends.length > 0 ? ends : completed;
}

/** Replaces a run's context that is too large. Clients can still read the nodes' own outputs. */
export const CONTEXT_OMITTED = '{"omitted":"CONTEXT_TOO_LARGE"}';

/**
 * The context of the run as a whole: `{"input", "nodes": {outputs of all completed nodes, by id}, "vars": {output variables}, "memory":
 * {every key}}`, if it has any.
 */
export function runContextJson(state: RunState): string {
  const completed = [...state.nodes.keys()].filter(
    (index) => state.nodes[index]?.status === "completed",
  );
  const bytes = completed.reduce(
    (sum, index) => sum + (state.nodes[index]?.outputBytes ?? 0),
    state.inputBytes + state.variablesBytes + state.memoryBytes,
  );
  if (bytes > LIMITS.contextBytes) return CONTEXT_OMITTED;
  return `{"input":${state.input},"nodes":${outputsById(state, completed)},"vars":${variables(state, "all")}${purposePart(state, "all")}${memoryPart(state, "all", "all")}}`;
}

const field = (name: string, json: string): string => `${JSON.stringify(name)}:${json}`;

function outputsById(state: RunState, indexes: Iterable<number>): string {
  return objectJson(state, indexes, (definition) => definition.id);
}

function variables(state: RunState, names: ContextReads["vars"]): string {
  return objectJson(state, state.variables, ({ outputVariable: name }) =>
    name !== null && isRead(names, name) ? name : null,
  );
}

/** The outputs of nodes under the names that `nameOf` gives them; null leaves a node out. */
function objectJson(
  state: RunState,
  indexes: Iterable<number>,
  nameOf: (definition: NodeDefinition) => string | null,
): string {
  let json = "{";
  for (const index of indexes) {
    const node = state.nodes[index];
    const output = node?.output ?? node?.kept?.output;
    const name = nameOf(nodeAt(state.graph, index).definition);
    if (output === undefined || name === null) continue;
    json += `${json.length > 1 ? "," : ""}${field(name, output)}`;
  }
  return `${json}}`;
}

function nodeAt(graph: Graph, index: number): Graph["nodes"][number] {
  const node = graph.nodes[index];
  if (node === undefined) throw unknownNode(index);
  return node;
}
