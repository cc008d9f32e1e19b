// Ending a run from outside: a person cancels it, or its deadline passes. Every unsettled execution is cancelled in the same
// breath, so whatever still runs is fenced off and a pending node never enters running.

import { mayTimeOut } from "../log/clock.ts";
import { isFinal, type Fact } from "../log/event.ts";
import type { RunState } from "../log/state.ts";
import { executionAt } from "../log/execution.ts";
import { nodeIdAt, RUN_PLACE } from "./place.ts";
import { unsettledExecutions } from "./verdict.ts";

export type Stop =
  | { readonly kind: "finished" }
  | { readonly kind: "accepted"; readonly facts: Fact[] };

/** The facts of a cancellation; `finished` when the run is over already. */
export function onCancel(
  state: RunState,
  { reason, requestId }: { readonly reason: string; readonly requestId: string },
): Stop {
  return stop(state, reason, {
    ...RUN_PLACE,
    type: "run.cancelled",
    payload: { reason, requestId },
  });
}

/**
 * The facts of a passed deadline; `early` when it is still ahead or cannot pass now, `finished` when the run is over already.
 */
export function onDeadline(state: RunState, now: number): Stop | { readonly kind: "early" } {
  if (isFinal(state.status)) return { kind: "finished" };
  if (now < state.deadlineAt || !mayTimeOut(state)) return { kind: "early" };
  return timedOut(state, state.deadlineAt);
}

/** The facts of a deadline that has passed. */
export function timedOut(state: RunState, deadlineAt: number): Stop {
  const payload = { deadlineAt };
  return stop(state, "the run passed its deadline", {
    ...RUN_PLACE,
    type: "run.timed_out",
    payload,
  });
}

function stop(state: RunState, reason: string, terminal: Fact): Stop {
  if (isFinal(state.status)) return { kind: "finished" };
  const facts = unsettledExecutions(state).map(({ node, iteration }): Fact => ({
    nodeId: nodeIdAt(state, node),
    iteration,
    attempt: executionAt(state, node, iteration)?.attempt ?? 0,
    epoch: 0,
    type: "node.cancelled",
    payload: { reason },
  }));
  facts.push(terminal);
  return { kind: "accepted", facts };
}
