// The union of decisions, and the fact each becomes. A decision is about one node or about the run, and is nothing until its
// fact is in the log.

import { unreachable } from "../fault/invariant.ts";
import type { Fact, FactOf, RunStatus, SkipReason } from "../log/event.ts";
import { executionAt } from "../log/execution.ts";
import type { RunState } from "../log/state.ts";
import type { Limits } from "../policy/limit.ts";
import { failureFact } from "./failure.ts";
import { graphNodeAt, nodeIdAt, RUN_PLACE } from "./place.ts";

/** Why the planner itself fails a node that never ran. */
export type PlannedFailure = "upstream_failure" | "context_too_large" | "limit_key_invalid";

/** A fact that ends the run. */
export type TerminalFact = FactOf<
  "run.completed" | "run.failed" | "run.cancelled" | "run.timed_out"
>;

export type Decision =
  | {
      readonly kind: "queue";
      readonly node: number;
      readonly iteration: number;
      readonly attempt: number;
      readonly notBefore?: number;
      readonly limits?: Limits;
    }
  | { readonly kind: "skip"; readonly node: number; readonly reason: SkipReason }
  | {
      readonly kind: "fail";
      readonly node: number;
      readonly cause: PlannedFailure;
      readonly message: string;
    }
  | {
      readonly kind: "cancel";
      readonly node: number;
      readonly iteration: number;
      readonly reason: string;
    }
  /** The run waits for somebody, or goes on. */
  | {
      readonly kind: "status";
      readonly from: RunStatus;
      readonly to: RunStatus;
      readonly deadlineAt?: number;
    }
  /** The engine ends the node itself: a glue node, or a map or a loop whose iterations are over. */
  | { readonly kind: "settle"; readonly fact: Fact }
  | { readonly kind: "finish"; readonly terminal: Fact };

/** The fact a decision becomes. Facts of the planner carry epoch 0: no executor caused them. */
export function factOf(state: RunState, decision: Decision): Fact {
  if (decision.kind === "finish") return decision.terminal;
  if (decision.kind === "settle") return decision.fact;
  if (decision.kind === "status") {
    const { kind: _kind, ...payload } = decision;
    return { ...RUN_PLACE, type: "run.status.changed", payload };
  }
  const iteration = "iteration" in decision ? decision.iteration : 0;
  const place = {
    nodeId: nodeIdAt(state, decision.node),
    iteration,
    attempt: executionAt(state, decision.node, iteration)?.attempt ?? 0,
    epoch: 0,
  };
  switch (decision.kind) {
    case "queue": {
      const { notBefore, limits } = decision;
      const payload = { ...(notBefore === undefined ? {} : { notBefore }), ...limits };
      return { ...place, type: "node.queued", attempt: decision.attempt, payload };
    }
    case "skip":
      return { ...place, type: "node.skipped", payload: { reason: decision.reason } };
    case "fail": {
      const { cause, message } = decision;
      // What a parent's failure means is said by `on_parent_failure`; error handling is for the node's own.
      if (cause === "upstream_failure")
        return { ...place, type: "node.failed", payload: { cause, message } };
      const { definition } = graphNodeAt(state, decision.node);
      return failureFact(definition, place, { cause, message, durationMs: 0 });
    }
    case "cancel":
      return { ...place, type: "node.cancelled", payload: { reason: decision.reason } };
    default:
      return unreachable(decision, "decision");
  }
}
