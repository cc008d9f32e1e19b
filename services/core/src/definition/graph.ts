// The graph index. It answers every question of the planner about a definition in O(1) or O(edges of one node). It is built once per
// definition and shared by all its runs, so nodes and edges are dense integers here.

import { invariant } from "../fault/invariant.ts";
import type { NodeId } from "../name/ids.ts";
import type { Definition, EdgeDefinition, NodeDefinition } from "./shape.ts";

export interface GraphEdge {
  readonly source: number;
  readonly target: number;
  readonly handle: string | null;
  readonly definition: EdgeDefinition;
}

export interface GraphNode {
  readonly index: number;
  readonly definition: NodeDefinition;
  readonly incoming: readonly GraphEdge[];
  readonly outgoing: readonly GraphEdge[];
  /** The loop edges that leave and reach the node. They are not among its other edges: joins, waves and leaves ignore them. */
  readonly loops: readonly GraphEdge[];
  readonly reentries: readonly GraphEdge[];
  /** Topological depth: the longest path from a root. */
  readonly wave: number;
}

export interface Graph {
  readonly definition: Definition;
  readonly nodes: readonly GraphNode[];
  readonly indexOf: ReadonlyMap<NodeId, number>;
  /** Nodes without parents. */
  readonly roots: readonly number[];
  /** Nodes without children. They decide how the run ends. */
  readonly leaves: readonly number[];
}

/** Indexes a definition without violations: its edges name existing nodes, and only loop edges close a cycle. */
export function indexGraph(definition: Definition): Graph {
  const indexOf = new Map(definition.nodes.map((node, index) => [node.id, index] as const));
  const incoming: GraphEdge[][] = definition.nodes.map(() => []);
  const outgoing: GraphEdge[][] = definition.nodes.map(() => []);
  const loops = new Map<number, GraphEdge[]>();
  const reentries = new Map<number, GraphEdge[]>();
  for (const edge of definition.edges) {
    const source = indexOf.get(edge.source) ?? -1;
    const target = indexOf.get(edge.target) ?? -1;
    const graphEdge = { source, target, handle: edge.sourceHandle, definition: edge };
    if (edge.loop === true) {
      loops.set(source, [...(loops.get(source) ?? []), graphEdge]);
      reentries.set(target, [...(reentries.get(target) ?? []), graphEdge]);
    } else {
      outgoing[source]?.push(graphEdge);
      incoming[target]?.push(graphEdge);
    }
  }
  const waves = topologicalWaves(outgoing);
  invariant(waves !== undefined, "a definition without violations has no cycle");
  const nodes = definition.nodes.map((node, index) => ({
    index,
    definition: node,
    incoming: incoming[index] ?? [],
    outgoing: outgoing[index] ?? [],
    loops: loops.get(index) ?? NO_EDGES,
    reentries: reentries.get(index) ?? NO_EDGES,
    wave: waves[index] ?? 0,
  }));
  const roots = nodes.filter((node) => node.incoming.length === 0).map((node) => node.index);
  const leaves = nodes.filter((node) => node.outgoing.length === 0).map((node) => node.index);
  return { definition, nodes, indexOf, roots, leaves };
}

const NO_EDGES: readonly GraphEdge[] = [];

/** Children by node: enough for order and cycles. */
type Adjacency = readonly (readonly { readonly target: number }[])[];

/** Kahn's order as depths. Undefined if some nodes are on a cycle. */
export function topologicalWaves(outgoing: Adjacency): number[] | undefined {
  const degree = outgoing.map(() => 0);
  for (const edges of outgoing)
    for (const edge of edges) degree[edge.target] = (degree[edge.target] ?? 0) + 1;
  const waves = outgoing.map(() => 0);
  const ready = degree.flatMap((count, index) => (count === 0 ? [index] : []));
  let seen = 0;
  for (let at = 0; at < ready.length; at++) {
    const index = ready[at] ?? 0;
    seen++;
    for (const edge of outgoing[index] ?? []) {
      waves[edge.target] = Math.max(waves[edge.target] ?? 0, (waves[index] ?? 0) + 1);
      const left = (degree[edge.target] ?? 0) - 1;
      degree[edge.target] = left;
      if (left === 0) ready.push(edge.target);
    }
  }
  return seen === outgoing.length ? waves : undefined;
}

/** Iterative depth-first search (a chain of 10,000 must not overflow the stack); returns one cycle, closed. */
export function findCycle(outgoing: Adjacency): number[] {
  const state = outgoing.map(() => 0); // 0 unseen, 1 on the path, 2 done
  for (let root = 0; root < outgoing.length; root++) {
    if (state[root] !== 0) continue;
    const path: { node: number; next: number }[] = [{ node: root, next: 0 }];
    state[root] = 1;
    while (path.length > 0) {
      const top = path[path.length - 1];
      if (top === undefined) break;
      const edge = outgoing[top.node]?.[top.next++];
      if (edge === undefined) {
        state[top.node] = 2;
        path.pop();
      } else if (state[edge.target] === 1) {
        const from = path.findIndex((step) => step.node === edge.target);
        return [...path.slice(from).map((step) => step.node), edge.target];
      } else if (state[edge.target] === 0) {
        state[edge.target] = 1;
        path.push({ node: edge.target, next: 0 });
      }
    }
  }
  return [];
}
