// What led to a claim, for traces: the claims before it, and since when its execution was ready.

import type { NodeId } from "../name/ids.ts";
import { executionAt } from "./execution.ts";
import type { RunState } from "./state.ts";

/** A claim of the same run. */
interface CauseClaim {
  readonly nodeId: NodeId;
  readonly iteration: number;
  readonly epoch: number;
}

/** A join of a thousand nodes names this many of them. */
const CAUSES_MAX = 16;

/** The claims that led to the newest claim of an execution: the attempt before it, or the claims of its parents. */
export function causesOf(
  state: RunState,
  nodeIndex: number,
  iteration: number,
): readonly CauseClaim[] {
  const node = state.graph.nodes[nodeIndex];
  const own = executionAt(state, nodeIndex, iteration);
  if (node === undefined || own === undefined) return [];
  if (own.attempt > 1 && own.reportedEpoch > 0)
    return [{ nodeId: node.definition.id, iteration, epoch: own.reportedEpoch }];
  const found: CauseClaim[] = [];
  const seen = new Set<number>();
  const open = node.incoming.map(({ source }) => source);
  for (let at = open.shift(); at !== undefined; at = open.shift()) {
    const parent = state.nodes[at];
    const graphNode = state.graph.nodes[at];
    if (seen.has(at) || parent === undefined || graphNode === undefined) continue;
    if (found.length === CAUSES_MAX) break;
    seen.add(at);
    if (parent.epoch > 0)
      found.push({ nodeId: graphNode.definition.id, iteration: parent.base, epoch: parent.epoch });
    // The scheduler completes glue nodes without a claim, so the causes are behind them.
    else open.push(...graphNode.incoming.map(({ source }) => source));
  }
  return found;
}

/** How long a node was ready before its newest claim, by the database's clock. Undefined for an item of a map or a loop. */
export function waitedMs(
  state: RunState,
  nodeIndex: number,
  iteration: number,
): number | undefined {
  const node = state.nodes[nodeIndex];
  const own = executionAt(state, nodeIndex, iteration);
  if (node === undefined || own?.startedAt === undefined || iteration !== node.base)
    return undefined;
  const parents = state.graph.nodes[nodeIndex]?.incoming ?? [];
  const settled = parents.map(({ source }) => state.nodes[source]?.settledAt ?? 0);
  const readyAt = Math.max(state.startedAt, own.notBefore ?? 0, ...settled);
  return Math.max(0, own.startedAt - readyAt);
}
