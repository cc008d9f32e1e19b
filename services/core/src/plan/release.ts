// When an execution may start, if a delay before it has not passed.

import { edgeEffect } from "../log/edge-effect.ts";
import { isItem } from "../log/execution.ts";
import type { RunState } from "../log/state.ts";
import { graphNodeAt, nodeStateAt } from "./place.ts";

/** The latest time at which a parent with a taken edge, or the iteration before, releases the execution. 0 if nothing delays it. */
export function releaseOf(state: RunState, index: number, iteration: number): number {
  const { scope, entry } = nodeStateAt(state, index);
  const { incoming, definition } = graphNodeAt(state, index);
  // A delay holds back the next iteration of a loop. In a map it holds back only the nodes behind the map.
  if (isItem(state, index, iteration))
    return definition.scope?.hasPrevious === true ? (scope?.releaseAt ?? 0) : 0;
  let release = entry?.releaseAt ?? 0;
  for (const edge of incoming) {
    const parent = nodeStateAt(state, edge.source);
    if (parent.releaseAt !== undefined && edgeEffect(parent, edge) === "taken")
      release = Math.max(release, parent.releaseAt);
  }
  return release;
}
