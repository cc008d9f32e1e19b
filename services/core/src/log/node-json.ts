// The definition of an execution in the form that an executor gets. It is that of a node, of the body of a map or a loop, of a turn or a tool
// of an agent, or of a compensation.

import type { Binding } from "../data/inputs.ts";
import { LIMITS } from "../data/limits.ts";
import type { Graph, GraphNode } from "../definition/graph.ts";
import type { NodeDefinition } from "../definition/shape.ts";
import { invariant } from "../fault/invariant.ts";
import { bodyAt, type NodePart, unknownNode } from "./execution.ts";

const nodeJsons = new WeakMap<Graph, Map<number, string>>();

/**
 * The definition that an executor gets: `{"node": {…}, "bindings": [one per incoming edge, in the definition's order]}`, and `"until"` for
 * an iteration of a loop with a condition. It depends only on the definition, so it is made once per graph.
 */
export function nodeJson(graph: Graph, nodeIndex: number, part: NodePart): string {
  let made = nodeJsons.get(graph);
  if (made === undefined) nodeJsons.set(graph, (made = new Map()));
  const at = nodeJsonIndex(nodeIndex, part);
  let json = made.get(at);
  if (json === undefined) made.set(at, (json = makeJson(graph, nodeIndex, part)));
  return json;
}

const PARTS: readonly NodePart[] = ["node", "body", "undo"];

/** Every round of a node has the same text for each of its parts. */
export const nodeJsonIndex = (nodeIndex: number, part: NodePart): number =>
  nodeIndex * (PARTS.length + LIMITS.agentTools) +
  (typeof part === "number" ? PARTS.length + part : PARTS.indexOf(part));

function makeJson(graph: Graph, nodeIndex: number, part: NodePart): string {
  if (part === "node") return makeNodeJson(graph, nodeIndex);
  return part === "undo" ? makeUndoJson(graph, nodeIndex) : makeBodyJson(graph, nodeIndex, part);
}

function makeNodeJson(graph: Graph, nodeIndex: number): string {
  const { scope: _scope, ...node } = runnable(graphNode(graph, nodeIndex).definition);
  return JSON.stringify({ node, bindings: bindingsOf(graph, nodeIndex) });
}

/** The definition without the fields that only the scheduler uses. */
function runnable(definition: NodeDefinition) {
  const {
    concurrency: _concurrency,
    rate: _rate,
    priority: _priority,
    maxIterations: _maxIterations,
    taint: _taint,
    ...named
  } = definition;
  const { writeKey: _writeKey, readKeys: _readKeys, compensation: _compensation, ...rest } = named;
  return rest;
}

function makeBodyJson(graph: Graph, nodeIndex: number, part: NodePart): string {
  const node = graphNode(graph, nodeIndex).definition;
  // Contracts and the input apply to the node as a whole, not to an iteration.
  const { scope, contracts: _contracts, input: _input, ...definition } = runnable(node);
  const found = bodyAt(node, part);
  invariant(scope !== null && found !== undefined, `node ${nodeIndex} has a body`);
  const { reads, ...body } = found;
  const bindings = reads.params ? bindingsOf(graph, nodeIndex) : [];
  const until = scope.until === null ? {} : { until: scope.until };
  return JSON.stringify({ node: { ...definition, ...body }, bindings, ...until });
}

/** A compensation takes nothing from edges, and no contract or moderation of its node applies to it. */
function makeUndoJson(graph: Graph, nodeIndex: number): string {
  const { definition } = graphNode(graph, nodeIndex);
  const { compensation } = definition;
  invariant(compensation !== undefined, `node ${nodeIndex} has a compensation`);
  const { scope: _scope, ...own } = runnable(definition);
  const plain = { moderation: "none", contracts: { input: null, output: null } } as const;
  return JSON.stringify({ node: { ...own, ...plain, ...compensation }, bindings: [] });
}

/** The incoming edges in the form that an executor gets: the plain ones, then the loop edges. */
export function bindingsOf(graph: Graph, nodeIndex: number): Binding[] {
  const { incoming, reentries } = graphNode(graph, nodeIndex);
  return [...incoming, ...reentries].map((edge) => {
    const { id: _id, target: _target, maxIterations: _max, source, ...binding } = edge.definition;
    const sourceLabel = graphNode(graph, edge.source).definition.label ?? source;
    return { source, sourceLabel, ...binding };
  });
}

function graphNode(graph: Graph, index: number): GraphNode {
  const node = graph.nodes[index];
  if (node === undefined) throw unknownNode(index);
  return node;
}
