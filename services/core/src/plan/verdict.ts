// When a run is over and how it ended: the leaf rule with `hasFailures`, since leaves can all be well although a
// node in the middle failed. Costs one look at every node, once per run.

import { isSettled, type Fact } from "../log/event.ts";
import { runOutputJson } from "../log/context.ts";
import type { RunState } from "../log/state.ts";
import type { Decision } from "./decision.ts";
import { nodeIdAt, RUN_PLACE } from "./place.ts";
import { openIterations } from "./scope.ts";

/** The terminal fact of a run whose nodes are all settled. */
export function verdict(state: RunState): Fact {
  const isWell = (index: number): boolean => {
    const status = state.nodes[index]?.status;
    return status === "completed" || status === "skipped";
  };
  if (state.graph.leaves.every(isWell)) {
    return {
      ...RUN_PLACE,
      type: "run.completed",
      payload: { hasFailures: state.hasFailures },
      value: runOutputJson(state),
    };
  }
  if (state.firstFailedNode === undefined) {
    const payload = { reason: "a node was cancelled", requestId: "" };
    return { ...RUN_PLACE, type: "run.cancelled", payload };
  }
  return runFailed(state, state.firstFailedNode);
}

/** Decisions that end a run because a node with `fail_workflow` failed: cancel what is left, then fail. */
export function failWholeRun(state: RunState, fatalNode: number): Decision[] {
  const reason = `node ${nodeIdAt(state, fatalNode)} failed the run`;
  return [
    ...unsettledExecutions(state).map((at): Decision => ({ kind: "cancel", ...at, reason })),
    { kind: "finish", terminal: runFailed(state, fatalNode) },
  ];
}

/** What is not settled: nodes, and before each its iterations that are under way. */
export function unsettledExecutions(
  state: RunState,
): { readonly node: number; readonly iteration: number }[] {
  return state.nodes.flatMap((node, index) =>
    isSettled(node.status)
      ? []
      : [...openIterations(node), 0].map((iteration) => ({ node: index, iteration })),
  );
}

function runFailed(state: RunState, index: number): Fact {
  const failedNodeId = nodeIdAt(state, index);
  const why = state.nodes[index]?.message ?? "no message";
  const payload = { failedNodeId, message: `node ${failedNodeId} failed: ${why}` };
  return { ...RUN_PLACE, type: "run.failed", payload };
}
