// A claim that is past its node's timeout and was not reported. An executor ends its own handlers in time; this is for one that does
// not, by fault or by intent, and goes on to renew. The scheduler ends such a claim as a timeout, and the node's policy decides about
// another attempt. The facts carry epoch 0: no executor reported, so what it says later about the claim is stale.

import { LIMITS } from "../data/limits.ts";
import { executionAt, executionDefinition } from "../log/execution.ts";
import type { RunState } from "../log/state.ts";
import { graphNodeAt } from "./place.ts";
import {
  type Arrival,
  arrivalOf,
  failedFacts,
  type Landing,
  type OutcomeArrival,
} from "./result.ts";

/** How long a claim on an execution may last. */
export function claimLimitMs(state: RunState, nodeIndex: number, iteration: number): number {
  const { timeoutMs } = executionDefinition(state.graph, nodeIndex, iteration);
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
  const { timeoutMs } = executionDefinition(state.graph, nodeIndex, iteration);
  const facts = failedFacts(
    state,
    // No executor speaks here: the epoch is 0, and the backoff is not spread.
    { nodeIndex, iteration, epoch: 0, jitter: 1, now },
    {
      kind: "failed",
      cause: "timeout",
      message: `its executor did not end it within ${timeoutMs} ms, so the scheduler did`,
      permanent: false,
      durationMs: Math.max(0, now - (node.startedAt ?? now)),
    },
  );
  return { kind: "accepted", facts };
}
