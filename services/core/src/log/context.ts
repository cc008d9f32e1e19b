// What leaves the engine as JSON: a node's context, a node's definition with its bindings, and the run's output. All three
// are concatenated from JSON texts; what users said is carried and never parsed here.

import { LIMITS } from "../data/limits.ts";
import { exceedsUtf8 } from "../data/utf8.ts";
import type { Graph } from "../definition/graph.ts";
import { invariant } from "../fault/invariant.ts";
import { edgeEffect } from "./edge-effect.ts";
import type { RunState } from "./state.ts";

/**
 * What the node may read: `{"input", "nodes": {outputs of the parents whose edge was taken, by id}, "vars": {output variables
 * so far}}`, and `"handles": {id: handle}` where such a parent left by one, so that a binding of another branch stays out.
 */
export function contextJson(state: RunState, nodeIndex: number): string {
  const parents = new Set<number>();
  let handles = "";
  for (const edge of nodeAt(state.graph, nodeIndex).incoming) {
    const source = state.nodes[edge.source];
    if (source === undefined || parents.has(edge.source)) continue;
    if (edgeEffect(source, edge) !== "taken") continue;
    parents.add(edge.source);
    if (source.handle === undefined) continue;
    const id = nodeAt(state.graph, edge.source).definition.id;
    handles += `${handles === "" ? "" : ","}${JSON.stringify(id)}:${JSON.stringify(source.handle)}`;
  }
  const tail = handles === "" ? "" : `,"handles":{${handles}}`;
  return `{"input":${state.input},"nodes":${outputsById(state, parents)},"vars":${variables(state)}${tail}}`;
}

/** An upper bound of the bytes of `contextJson`, at a cost of the node's incoming edges and not of the values. */
export function contextBytes(state: RunState, nodeIndex: number): number {
  // The frame's own keys, and quotes, colon and comma around each id; ids are ASCII, handles may be escaped.
  let bytes = 64 + state.inputBytes + state.variablesBytes;
  for (const edge of nodeAt(state.graph, nodeIndex).incoming) {
    const source = state.nodes[edge.source];
    if (source === undefined) continue;
    const idBytes = edge.definition.source.length + 4;
    bytes += source.outputBytes + idBytes;
    if (source.handle !== undefined) bytes += idBytes + source.handle.length * 6 + 4;
  }
  return bytes;
}

/** In place of a run output that is larger than any value in the log may be; the nodes' own outputs stay readable. */
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

const nodeJsons = new WeakMap<Graph, (string | undefined)[]>();

/**
 * The node as an executor gets it: `{"node": {…}, "bindings": [one per incoming edge, in the definition's order]}`. It
 * depends on the definition alone, so it is made once per graph.
 */
export function nodeJson(graph: Graph, nodeIndex: number): string {
  let made = nodeJsons.get(graph);
  if (made === undefined) nodeJsons.set(graph, (made = []));
  return (made[nodeIndex] ??= makeNodeJson(graph, nodeIndex));
}

function makeNodeJson(graph: Graph, nodeIndex: number): string {
  const { definition, incoming } = nodeAt(graph, nodeIndex);
  const bindings = incoming.map((edge) => ({
    source: edge.definition.source,
    sourceLabel: nodeAt(graph, edge.source).definition.label ?? edge.definition.source,
    sourceHandle: edge.definition.sourceHandle,
    sourceOutputKey: edge.definition.sourceOutputKey,
    targetParamLabel: edge.definition.targetParamLabel,
    mergeStrategy: edge.definition.mergeStrategy,
  }));
  return JSON.stringify({ node: definition, bindings });
}

function outputsById(state: RunState, indexes: Iterable<number>): string {
  let json = "{";
  for (const index of indexes) {
    const output = state.nodes[index]?.output;
    if (output === undefined) continue;
    json += `${json.length > 1 ? "," : ""}${JSON.stringify(nodeAt(state.graph, index).definition.id)}:${output}`;
  }
  return `${json}}`;
}

function variables(state: RunState): string {
  let json = "{";
  for (const index of state.variables) {
    const output = state.nodes[index]?.output;
    const name = nodeAt(state.graph, index).definition.outputVariable;
    if (output === undefined || name === null) continue;
    json += `${json.length > 1 ? "," : ""}${JSON.stringify(name)}:${output}`;
  }
  return `${json}}`;
}

function nodeAt(graph: Graph, index: number): Graph["nodes"][number] {
  const node = graph.nodes[index];
  invariant(node !== undefined, `node ${index} is in the graph`);
  return node;
}
