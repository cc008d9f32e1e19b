// The rule by which a settled node takes its outgoing edges. No other file has it.

import type { GraphEdge } from "../definition/graph.ts";
import type { NodeStatus, SkipReason } from "./event.ts";

/** The handle of a node that completed with a goto or a handoff: it takes none of its edges. No edge can have this name. */
export const JUMPED = "_jumped";

/**
 * The effect of a settled source on one of its edges. `taken`: the source completed and left by this edge. `failed`: it failed, timed out
 * or was cancelled. `untaken`: it left by another edge, or was skipped.
 */
export function edgeEffect(
  source: { readonly status: NodeStatus; readonly handle: string | undefined },
  edge: Pick<GraphEdge, "handle">,
): "taken" | "failed" | "untaken" {
  if (source.status === "completed") {
    const { handle } = source;
    const follows =
      edge.handle === null ? handle !== "error" && handle !== JUMPED : edge.handle === handle;
    return follows ? "taken" : "untaken";
  }
  return source.status === "skipped" ? "untaken" : "failed";
}

const AFTER_FAILURE: SkipReason = "parent_not_completed";

/** Whether a node was skipped because a node before it failed, and not because its branch was not taken. */
export const wasSkippedAfterFailure = (node: {
  readonly status: NodeStatus;
  readonly message: string | undefined;
}): boolean => node.status === "skipped" && node.message === AFTER_FAILURE;
