// When a join fires. It reads the fold's counters of settled parents, so it takes constant time.

import type { GraphNode } from "../definition/graph.ts";
import type { NodeState } from "../log/state.ts";

type Joining = Pick<GraphNode, "incoming" | "definition">;

/** Whether so many branches lead to an `any` or `n_of_m` join that it does not wait for its other parents. */
export function firesEarly(
  { definition: { join } }: Joining,
  { takenParents }: NodeState,
): boolean {
  return join.mode !== "all" && takenParents >= (join.mode === "any" ? 1 : join.n);
}

/**
 * Whether the join of a pending node has fired: `wait` while parents are missing, `untaken` if no branch leads to the node. A branch that
 * is not taken never blocks a join.
 */
export function readiness(node: Joining, counters: NodeState) {
  const { incoming, definition } = node;
  const { settledParents, takenParents, failedParents } = counters;
  if (incoming.length === 0 || firesEarly(node, counters)) return "run";
  if (settledParents < incoming.length) return "wait";
  if (failedParents > 0) return "parents_failed";
  return definition.join.mode === "all" && takenParents > 0 ? "run" : "untaken";
}
