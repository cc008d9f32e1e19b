// The nodes and edges in the form of the graph library. The functions are pure.

import { MarkerType } from "@xyflow/react";
import type { Looks } from "../run/looks.ts";
import type { NodeView } from "@pawl/core/log/view";
import { formatDuration } from "../ui/time.ts";
import { edgeState, type EdgeState } from "./definition.ts";
import { type DrawnNode } from "@pawl/client";
import type { FoldedGraph } from "./fold.ts";
import type { FlowEdge, FlowNode } from "./graph-parts.tsx";
import { type Direction, type Layout, NODE_HEIGHT, NODE_WIDTH } from "./layout.ts";
import { tally } from "./tally.tsx";
import { labelsIn, TAINT_SIGN } from "./taint.ts";

/** A run on the graph; absent for a preview of the definition. */
export interface DrawnRun {
  readonly nodes: ReadonlyMap<string, NodeView>;
  readonly looks: Looks;
  readonly nowMs: number;
}

export interface Drawing {
  readonly graph: FoldedGraph;
  readonly place: Layout;
  readonly direction: Direction;
  readonly run: DrawnRun | undefined;
  readonly openKey: string;
  readonly foundIds: ReadonlySet<string>;
}

const STROKES: Readonly<Record<EdgeState, string>> = {
  pending: "var(--border-strong)",
  untaken: "var(--border-strong)",
  taken: "var(--s-completed)",
};

export const drawNodes = (drawing: Drawing): FlowNode[] =>
  drawing.graph.nodes.map((drawn) => ({
    id: drawn.id,
    type: "pawl",
    position: drawing.place.nodes.get(drawn.id) ?? { x: 0, y: 0 },
    width: NODE_WIDTH,
    height: NODE_HEIGHT,
    ...(drawing.run === undefined ? {} : { ariaRole: "button" }),
    data: dataOf(drawn, drawing),
  }));

function dataOf(drawn: DrawnNode, drawing: Drawing): FlowNode["data"] {
  const { graph, run, openKey, foundIds, direction } = drawing;
  const members = graph.groups.get(drawn.id);
  const counts = members === undefined || run === undefined ? undefined : tally(members, run.looks);
  const look = run?.looks.get(drawn.id);
  const leftMs = (look?.releaseAt ?? 0) - (run?.nowMs ?? 0);
  return {
    drawn,
    view: run?.nodes.get(drawn.id),
    look: run === undefined ? undefined : (counts?.[0]?.look ?? look?.look ?? "pending"),
    countdown: look?.releaseAt === undefined ? "" : formatDuration(Math.max(leftMs, 0)),
    counts: members === undefined ? undefined : (counts ?? []),
    isOpen: drawn.id === openKey || openKey.startsWith(`${drawn.id}#`),
    isFound: (members ?? [drawn]).some(({ id }) => foundIds.has(id)),
    direction,
  };
}

/** The edges. An edge of a group is taken if one member has taken it. */
export const drawEdges = ({ graph, place, direction, run }: Drawing): FlowEdge[] =>
  graph.edges.map((edge) => {
    const sources = graph.groups.get(edge.source) ?? [{ id: edge.source }];
    const states = new Set(
      sources.map(({ id }) => edgeState(edge, run?.nodes.get(id), run?.nodes.get(edge.target))),
    );
    const state = (["taken", "pending"] as const).find((one) => states.has(one)) ?? "untaken";
    const made = sources.map(({ id }) => run?.nodes.get(id));
    const isTainted = state === "taken" && labelsIn(made) !== "";
    const color = isTainted ? "var(--s-tainted)" : STROKES[state];
    // The node has the labels as words. Words on a short edge would hide its line.
    const text = [edge.handle, isTainted ? TAINT_SIGN : ""].filter((part) => part !== "").join(" ");
    return {
      id: edge.id,
      type: "pawl",
      source: edge.source,
      target: edge.target,
      className: isTainted ? `edge-${state} edge-tainted` : `edge-${state}`,
      animated: state === "taken" && run?.looks.get(edge.target)?.look === "running",
      markerEnd: { type: MarkerType.ArrowClosed, width: 15, height: 15, color },
      data: { bends: place.bends.get(edge.id) ?? [], direction, isLoop: edge.loop === true },
      ...(text === "" ? {} : { label: text }),
    };
  });
