// A person's decision about a node that waits for one. The races it survives: the same decision said twice (its answer was lost)
// changes nothing, and one that comes after another, or after the run moved on, is told so instead of being applied.

import type { Fact, NodeDecision } from "../log/event.ts";
import { executionAt } from "../log/execution.ts";
import type { RunState } from "../log/state.ts";
import { nodeIdAt } from "./place.ts";
import { completedFacts, failedFacts } from "./result.ts";

export interface DecisionArrival {
  readonly nodeIndex: number;
  readonly iteration: number;
  readonly decision: NodeDecision;
  readonly comment: string;
  readonly requestId: string;
  readonly now: number;
}

export type DecisionResult =
  | { readonly kind: "accepted"; readonly facts: Fact[] }
  /** Said before: nothing to do. */
  | { readonly kind: "repeated" }
  /** The node was decided the other way. */
  | { readonly kind: "decided_otherwise" }
  | { readonly kind: "not_held" };

/** The facts that follow from a decision. Changes nothing itself. */
export function onDecision(state: RunState, arrival: DecisionArrival): DecisionResult {
  const { nodeIndex, iteration, decision, comment, requestId, now } = arrival;
  const execution = executionAt(state, nodeIndex, iteration);
  if (execution === undefined) return { kind: "not_held" };
  const { hold, decided, attempt } = execution;
  const isRepeat = decided !== undefined && decided.requestId === requestId && requestId !== "";
  if (isRepeat || execution.status !== "waiting" || hold === undefined) {
    if (decided === undefined) return { kind: "not_held" };
    return { kind: decided.decision === decision ? "repeated" : "decided_otherwise" };
  }
  const place = { nodeId: nodeIdAt(state, nodeIndex), iteration, attempt, epoch: 0 };
  const payload = { decision, reason: hold.reason, comment, requestId };
  const said: Fact = { ...place, type: "node.decided", payload };
  const { phase, ...ending } = hold.ending;
  // What follows stands under the claim that was held: its executor made the output.
  const landing = { nodeIndex, iteration, epoch: hold.epoch, jitter: 0, now };
  if (decision === "reject") {
    const cause = "moderation_blocked";
    const message = `${cause}: rejected${comment === "" ? "" : `: ${comment}`}`;
    const { durationMs } = ending;
    const failure = { kind: "failed", cause, message, permanent: true, durationMs } as const;
    return { kind: "accepted", facts: [said, ...failedFacts(state, landing, failure)] };
  }
  if (phase === "input")
    return { kind: "accepted", facts: [said, { ...place, type: "node.queued", payload: {} }] };
  const completed = { ...ending, kind: "completed", outputJson: hold.output ?? "null" } as const;
  return { kind: "accepted", facts: [said, ...completedFacts(state, landing, completed)] };
}
