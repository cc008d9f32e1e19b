// Whether a run went along an edge: pending until its source settles, then taken or untaken for good.

import { isSettled } from "@pawl/core/log/event";
import { edgeEffect } from "@pawl/core/log/edge-effect";
import type { NodeView } from "@pawl/core/log/view";
import type { DrawnEdge } from "./definition.ts";

export type EdgeState = "pending" | "taken" | "untaken";

/** The state of `edge`, given the newest execution of its source: the fold's own judgement, drawn. */
export function edgeState(edge: DrawnEdge, source: NodeView | undefined): EdgeState {
  if (source === undefined || !isSettled(source.status)) return "pending";
  const handle = source.handle === "" ? undefined : source.handle;
  const effect = edgeEffect(
    { status: source.status, handle },
    { handle: edge.handle === "" ? null : edge.handle },
  );
  return effect === "taken" ? "taken" : "untaken";
}
