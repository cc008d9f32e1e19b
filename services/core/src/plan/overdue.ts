// A claim that is past its node's timeout and that no executor reported. An executor ends its own handlers in time. If it does not, and
// keeps renewing the lease, the scheduler ends the claim as a timeout. The node's policy then decides about another attempt. The facts
// carry epoch 0, because no executor reported: a later report for the claim is stale.

import { LIMITS } from "../data/limits.ts";
import { executionAt, executionDefinition } from "../log/execution.ts";
import type { RunState } from "../log/state.ts";
import { arrivalOf, type OutcomeArrival } from "./arrive.ts";
import { durationOf, graphNodeAt } from "./place.ts";
import { outcomeFacts, type Arrival, type Landing } from "./result.ts";

/** How long a claim on an execution may last. */
export function claimLimitMs(state: RunState, nodeIndex: number, iteration: number): number {
  const { timeoutMs } = executionDefinition(state, nodeIndex, iteration);
  const isModerated = graphNodeAt(state, nodeIndex).definition.moderation !== "none";
  return timeoutMs + LIMITS.timeoutGraceMs + (isModerated ? LIMITS.moderationGraceMs : 0);
}

/** The facts that follow when a claim is past its limit. */
export function onOverdue(
  state: RunState,
  claim: Omit<Landing, "jitter"> & Pick<OutcomeArrival, "executorId">,
): Extract<Arrival, { kind: "stale" | "accepted" }> {
  const { nodeIndex, iteration, now } = claim;
  const node = executionAt(state, nodeIndex, iteration);
  if (node === undefined || arrivalOf(node, claim) !== "live") return { kind: "stale" };
  const { timeoutMs } = executionDefinition(state, nodeIndex, iteration);
  const outcome = {
    kind: "failed",
    cause: "timeout",
    message: `its executor did not end it within ${timeoutMs} ms, so the scheduler did`,
    permanent: false,
    durationMs: durationOf(node, now),
  } as const;
  // Full jitter: the scheduler waits the whole backoff.
  const landing = { nodeIndex, iteration, epoch: 0, jitter: 1, now };
  return { kind: "accepted", facts: outcomeFacts(state, { ...landing, outcome }) };
}
