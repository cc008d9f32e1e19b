// A map, a loop or an agent fails: its open iterations are cancelled in the same commit, so their executors are fenced off.

import type { Cause } from "../fault/cause.ts";
import type { Fact } from "../log/event.ts";
import { failureFact } from "./failure.ts";
import type { Round } from "./inline.ts";
import { scopeTaint } from "./label.ts";
import {
  cancelFact,
  durationOf,
  graphNodeAt,
  nodeIdAt,
  nodeStateAt,
  openIterations,
  placeAt,
} from "./place.ts";

export interface ScopeFailure {
  readonly cause: Cause;
  readonly message: string;
}

/** Cancels the open iterations and fails the node. The planner queues no more of them. */
export function failScope({ state, now }: Round, index: number, failure: ScopeFailure): Fact[] {
  const reason = `node ${nodeIdAt(state, index)} failed: ${failure.cause}`;
  const durationMs = durationOf(nodeStateAt(state, index), now);
  const { definition } = graphNodeAt(state, index);
  const taint = scopeTaint(state, index);
  return [
    ...openIterations(state, index).map((iteration) =>
      cancelFact(placeAt(state, index, iteration), reason),
    ),
    failureFact(definition, placeAt(state, index), { ...failure, durationMs, taint }),
  ];
}
