// Parents that are too late for their join. Once a join with `late: cancel` has fired, the planner cancels its unsettled parents, then
// their unsettled parents, and so on. A parent that another pending node needs continues.

import { isSettled, type Fact } from "../log/event.ts";
import type { RunState } from "../log/state.ts";
import { graphNodeAt, nodeIdAt, nodeStateAt } from "./place.ts";
import { cancelFacts } from "./cancel.ts";

/** Cancels the nodes that are too late for the joins in `state.firedJoins`, which it empties. */
export function cancelLate(state: RunState): Fact[] {
  const reasons = new Map<number, string>();
  for (const join of state.firedJoins) {
    const reason = `too late for ${nodeIdAt(state, join)}`;
    const reached = [join];
    for (let at = 0; at < reached.length; at += 1)
      for (const { source } of graphNodeAt(state, reached[at] ?? join).incoming) {
        if (reasons.has(source) || isSettled(nodeStateAt(state, source).status)) continue;
        if (isNeeded(state, source, reasons)) continue;
        reasons.set(source, reason);
        reached.push(source);
      }
  }
  state.firedJoins.clear();
  return [...reasons].flatMap(([node, reason]) => cancelFacts(state, node, reason));
}

/** Whether a node that may still run needs `index`. */
const isNeeded = (
  state: RunState,
  index: number,
  cancelled: ReadonlyMap<number, string>,
): boolean =>
  graphNodeAt(state, index).outgoing.some(
    ({ target }) => nodeStateAt(state, target).status === "pending" && !cancelled.has(target),
  );
