// What a settled node means for the edges that leave it: the one rule by which branches are taken.

import type { GraphEdge } from "../definition/graph.ts";
import type { NodeStatus, SkipReason } from "./event.ts";

/**
 * What a settled source means for one of its edges: `taken` when it completed and left this way, `failed` when it failed,
 * timed out or was cancelled, `untaken` otherwise (another branch, or the source itself was skipped).
 */
export function edgeEffect(
  source: { readonly status: NodeStatus; readonly handle: string | undefined },
  edge: Pick<GraphEdge, "handle">,
): "taken" | "failed" | "untaken" {
  if (source.status === "completed") {
    const follows =
      edge.handle === null ? source.handle !== "error" : edge.handle === source.handle;
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
