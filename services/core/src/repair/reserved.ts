// What the nodes of a repair may use that the finished run never started. Its usage tells nothing about them, so the plan shows what one
// execution of each reserves.

import { reserveOf } from "../definition/reserve.ts";
import type { Fact } from "../log/event.ts";
import type { RunState } from "../log/state.ts";
import { needOf } from "../plan/need.ts";
import { graphNodeAt, nodeStateAt } from "../plan/place.ts";
import { NOTHING, plus, type SomeAmounts } from "../policy/budget.ts";
import type { PriceOf } from "../policy/price.ts";

interface Planned {
  readonly nodeId: string;
  readonly action: string;
}

/** The sum of the reserves of nodes that run for the first time. A map or a loop counts one item. */
export function reservedByNew(
  state: RunState,
  nodes: readonly Planned[],
  events: readonly Fact[],
  priceOf: PriceOf,
): SomeAmounts {
  const started = new Set<string>(
    events.flatMap(({ type, nodeId }) => (type === "node.started" ? [nodeId] : [])),
  );
  const { tokens, costMicros } = nodes
    .filter(({ nodeId, action }) => action === "run" && !started.has(nodeId))
    .map(({ nodeId }) => reserveIn(state, nodeId, priceOf))
    .reduce(plus, NOTHING);
  return { tokens, costMicros };
}

function reserveIn(state: RunState, id: string, priceOf: PriceOf): SomeAmounts {
  const index = state.graph.nodes.findIndex(({ definition }) => definition.id === id);
  const { scope, reserve } = graphNodeAt(state, index).definition;
  return scope === null
    ? needOf(state, index, nodeStateAt(state, index).base, priceOf)
    : reserveOf(scope.body.type, scope.body.config, reserve);
}
