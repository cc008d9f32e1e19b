// Join modes: may a node with several parents run now, never, or is it too early to say. Answered on the
// fold's counters alone, in constant time. Evaluated on *settled* parents, so an untaken branch can never hang a join.

import type { GraphNode } from "../definition/graph.ts";
import type { Join } from "../definition/shape.ts";
import type { NodeState } from "../log/state.ts";

/** `run`: queue it. `parents_failed`: its own policy decides. `untaken`: no branch led here. `wait`: parents are missing. */
export type Readiness = "run" | "parents_failed" | "untaken" | "wait";

/** Whether the pending `node` may run, given its counters. */
export function readiness(node: GraphNode, state: NodeState): Readiness {
  const parents = node.incoming.length;
  if (parents === 0) return "run";
  const settled = state.settledParents === parents;
  const needed = takenNeeded(node.definition.join);
  if (needed === undefined) {
    if (!settled) return "wait";
    if (state.failedParents > 0) return "parents_failed";
    return state.takenParents > 0 ? "run" : "untaken";
  }
  if (state.takenParents >= needed) return "run";
  if (!settled) return "wait";
  return state.failedParents > 0 ? "parents_failed" : "untaken";
}

/** How many taken edges release the join early; undefined for `all`, which waits for every parent. */
function takenNeeded(join: Join): number | undefined {
  if (join.mode === "all") return undefined;
  return join.mode === "any" ? 1 : join.n;
}
