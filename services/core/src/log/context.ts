// The JSON that the engine gives out: a node's context, a node's definition with its bindings, and the run's output. This file joins
// JSON texts and never parses the user's JSON.

import type { Binding } from "../data/inputs.ts";
import { LIMITS } from "../data/limits.ts";
import { splitArray } from "../data/split-array.ts";
import { exceedsUtf8, utf8Bytes } from "../data/utf8.ts";
import type { Graph } from "../definition/graph.ts";
import type { ContextReads, MemoryReads, NodeDefinition } from "../definition/shape.ts";
import { invariant } from "../fault/invariant.ts";
import { edgeEffect } from "./edge-effect.ts";
import { unknownNode } from "./execution.ts";
import { memoryBytes, memoryJson } from "./memory.ts";
import type { RunState, ScopeState } from "./state.ts";

/**
 * The context that an execution reads: `{"input", "nodes": {outputs of the parents whose edge was taken, by id}, "vars": {output
 * variables so far}}`. `"handles": {id: handle}` is added for parents that left by a handle, so that bindings of other branches do
 * not apply. `"memory"` is added where the node reads keys of the memory that have values. An iteration gets only the parts that its body names, and its own item.
 */
export function contextJson(state: RunState, nodeIndex: number, iteration: number): string {
  const { incoming, definition } = nodeAt(state.graph, nodeIndex);
  const scope = iteration === 0 ? null : definition.scope;
  const reads = scope?.body.reads ?? READS_ALL;
  const parents = parentsRead(state, incoming, reads);
  let handles = "";
  for (const index of parents) {
    const handle = state.nodes[index]?.handle;
    if (handle !== undefined)
      handles += `${handles === "" ? "" : ","}${field(nodeAt(state.graph, index).definition.id, JSON.stringify(handle))}`;
  }
  const tail = handles === "" ? "" : `,"handles":{${handles}}`;
  const input = reads.input ? state.input : "null";
  const memory = memoryPart(state, definition.readKeys, reads.memory);
  const own = scope === null ? "" : itemJson(state, nodeIndex, iteration, scope.hasPrevious);
  return `{"input":${input},"nodes":${outputsById(state, parents)},"vars":${variables(state, reads.vars)}${memory}${tail}${own}}`;
}

/** The memory as a member of a context; empty where no key has a value. */
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

/** The parents whose output the execution gets: their edge was taken, and the body reads them. */
function parentsRead(
  state: RunState,
  incoming: Graph["nodes"][number]["incoming"],
  reads: ContextReads,
): ReadonlySet<number> {
  const parents = new Set<number>();
  for (const edge of incoming) {
    const source = state.nodes[edge.source];
    if (source === undefined || parents.has(edge.source)) continue;
    if (!reads.params && !isRead(reads.nodes, edge.definition.source)) continue;
    if (edgeEffect(source, edge) === "taken") parents.add(edge.source);
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
  const scope = state.nodes[nodeIndex]?.scope;
  invariant(scope !== undefined, `node ${nodeIndex} has iterations`);
  const own = `,"item":${itemText(scope, iteration)},"index":${iteration - 1}`;
  if (!hasPrevious) return own;
  return `${own},"previous":${scope.items[iteration - 2]?.output ?? "null"}`;
}

function itemText(scope: ScopeState, iteration: number): string {
  let texts = itemTexts.get(scope);
  if (texts === undefined) itemTexts.set(scope, (texts = splitArray(scope.itemsJson)));
  return texts[iteration - 1] ?? "null";
}

/** An upper bound of the bytes of `contextJson`, at a cost of the node's incoming edges and not of the values. */
export function contextBytes(state: RunState, nodeIndex: number, iteration = 0): number {
  const { incoming, definition } = nodeAt(state.graph, nodeIndex);
  const scope = iteration === 0 ? null : definition.scope;
  const reads = scope?.body.reads ?? READS_ALL;
  // 64 bytes hold the keys of the frame. Quotes, a colon and a comma surround each id; ids are ASCII, handles may be escaped.
  let bytes = 64 + (reads.input ? state.inputBytes : 0) + variablesBytes(state, reads.vars);
  bytes += memoryBytes(state, definition.readKeys, reads.memory);
  for (const index of parentsRead(state, incoming, reads)) {
    const { outputBytes = 0, handle } = state.nodes[index] ?? {};
    const idBytes = nodeAt(state.graph, index).definition.id.length + 4;
    bytes += outputBytes + idBytes;
    if (handle !== undefined) bytes += idBytes + handle.length * 6 + 4;
  }
  return scope === null ? bytes : bytes + itemBytes(state, nodeIndex, iteration);
}

function variablesBytes(state: RunState, names: ContextReads["vars"]): number {
  if (names === "all") return state.variablesBytes;
  let bytes = 0;
  if (names.size === 0) return bytes;
  for (const index of state.variables) {
    const name = nodeAt(state.graph, index).definition.outputVariable;
    if (name === null || !names.has(name)) continue;
    bytes += name.length + 4 + (state.nodes[index]?.outputBytes ?? 0);
  }
  return bytes;
}

function itemBytes(state: RunState, nodeIndex: number, iteration: number): number {
  const scope = state.nodes[nodeIndex]?.scope;
  if (scope === undefined) return 0;
  const previous = scope.items[iteration - 2]?.outputBytes ?? 0;
  return 64 + utf8Bytes(itemText(scope, iteration)) + previous;
}

/** The output of a run whose real output is larger than a value in the log may be; the outputs of the nodes stay readable. */
export const OUTPUT_OMITTED = '{"omitted":"RUN_OUTPUT_TOO_LARGE"}';

/**
 * The run's output: that of its completed `end` node; of several, an object by node id; of none, the outputs of the
 * completed leaves by node id.
 */
export function runOutputJson(state: RunState): string {
  const completed = (index: number): boolean => state.nodes[index]?.status === "completed";
  const ends = state.graph.leaves.filter(
    (index) => completed(index) && nodeAt(state.graph, index).definition.type === "end",
  );
  const only = ends.length === 1 ? state.nodes[ends[0] ?? -1]?.output : undefined;
  if (only !== undefined) return only;
  const json = outputsById(state, ends.length > 0 ? ends : state.graph.leaves.filter(completed));
  return exceedsUtf8(json, LIMITS.valueBytes) ? OUTPUT_OMITTED : json;
}

/** In place of a run's context that is larger than a node's context may be; the nodes' own outputs stay readable. */
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
  return `{"input":${state.input},"nodes":${outputsById(state, completed)},"vars":${variables(state, "all")}${memoryPart(state, "all", "all")}}`;
}

const nodeJsons = new WeakMap<Graph, (string | undefined)[]>();

/**
 * The definition that an executor gets: `{"node": {…}, "bindings": [one per incoming edge, in the definition's order]}`, and
 * `"until"` for an iteration of a loop that has one. It depends only on the definition, so it is made once per graph.
 */
export function nodeJson(graph: Graph, nodeIndex: number, iteration: number): string {
  let made = nodeJsons.get(graph);
  if (made === undefined) nodeJsons.set(graph, (made = []));
  const at = nodeJsonIndex(nodeIndex, iteration);
  return (made[at] ??=
    iteration === 0 ? makeNodeJson(graph, nodeIndex) : makeBodyJson(graph, nodeIndex));
}

/** Every iteration of a node has the same text: two places per node. */
export const nodeJsonIndex = (nodeIndex: number, iteration: number): number =>
  nodeIndex * 2 + Math.min(iteration, 1);

function makeNodeJson(graph: Graph, nodeIndex: number): string {
  const { scope: _scope, ...node } = runnable(nodeAt(graph, nodeIndex).definition);
  return JSON.stringify({ node, bindings: bindingsOf(graph, nodeIndex) });
}

/** The definition without the fields that only the scheduler uses. */
function runnable(definition: NodeDefinition) {
  const { concurrency: _concurrency, rate: _rate, priority: _priority, ...named } = definition;
  const { writeKey: _writeKey, readKeys: _readKeys, ...rest } = named;
  return rest;
}

function makeBodyJson(graph: Graph, nodeIndex: number): string {
  // Contracts apply to the node as a whole, not to an iteration.
  const {
    scope,
    contracts: _contracts,
    ...definition
  } = runnable(nodeAt(graph, nodeIndex).definition);
  invariant(scope !== null, `node ${nodeIndex} has a body`);
  const { reads, ...body } = scope.body;
  const bindings = reads.params ? bindingsOf(graph, nodeIndex) : [];
  const until = scope.until === null ? {} : { until: scope.until };
  return JSON.stringify({ node: { ...definition, ...body }, bindings, ...until });
}

/** The incoming edges as an executor gets them. */
export function bindingsOf(graph: Graph, nodeIndex: number): Binding[] {
  return nodeAt(graph, nodeIndex).incoming.map((edge) => {
    const { id: _id, target: _target, source, ...binding } = edge.definition;
    const sourceLabel = nodeAt(graph, edge.source).definition.label ?? source;
    return { source, sourceLabel, ...binding };
  });
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
    const output = state.nodes[index]?.output;
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
