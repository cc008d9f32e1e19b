// Parents too late for their join: once a join with `late: cancel` has fired, what still runs towards it is cancelled, and so on
// upwards, as long as nobody else waits for it. A parent that another pending node needs goes on.

import { isSettled } from "../log/event.ts";
import type { RunState } from "../log/state.ts";
import type { Decision } from "./decision.ts";
import { graphNodeAt, nodeIdAt, nodeStateAt } from "./place.ts";
import { openIterations } from "./scope.ts";

/** Cancels what comes too late for the joins in `state.firedJoins`, which it empties. */
export function cancelLate(state: RunState): Decision[] {
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
  return [...reasons].flatMap(([node, reason]) =>
    [...openIterations(nodeStateAt(state, node)), 0].map((iteration): Decision => ({
      kind: "cancel",
      node,
      iteration,
      reason,
    })),
  );
}

/** Whether a node that may still run waits for `index`. */
const isNeeded = (
  state: RunState,
  index: number,
  cancelled: ReadonlyMap<number, string>,
): boolean =>
  graphNodeAt(state, index).outgoing.some(
    ({ target }) => nodeStateAt(state, target).status === "pending" && !cancelled.has(target),
  );
