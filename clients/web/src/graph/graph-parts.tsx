// Draws a node and an edge. The shape and the colour of a node show its state, and small marks show its attempts. The line of an edge shows
// whether the run took it. A group of equal siblings is one node with counts.

import {
  BaseEdge,
  type Edge,
  type EdgeProps,
  Handle,
  type Node,
  type NodeProps,
  Position,
} from "@xyflow/react";
import { memo, type ReactNode } from "react";
import { iterationsText, type Look, roundText } from "../run/looks.ts";
import type { NodeView } from "@pawl/core/log/view";
import { StatusIcon, statusName } from "../ui/status-icon.tsx";
import type { DrawnNode } from "@pawl/client";
import { type Direction, type Place, routeBack, routeEdge } from "./layout.ts";
import { type Count, TallyLine } from "./tally.tsx";
import { labelsIn } from "./taint.ts";

export type FlowNode = Node<
  {
    readonly drawn: DrawnNode;
    readonly view: NodeView | undefined;
    /** Absent in a preview of a definition. */
    readonly look: Look | undefined;
    /** The remaining time of a delay: `43 s`. */
    readonly countdown: string;
    /** The members of a group by look. */
    readonly counts: readonly Count[] | undefined;
    readonly isOpen: boolean;
    readonly isFound: boolean;
    readonly direction: Direction;
  },
  "pawl"
>;

const EXCERPT = 34;

export const GraphNode = memo(function GraphNode({ data }: NodeProps<FlowNode>): ReactNode {
  const { drawn, view, look, counts, isOpen, isFound, direction } = data;
  const states = [
    isOpen ? "is-open" : "",
    isFound ? "is-found" : "",
    counts ? "is-group" : "",
    labelsIn([view]) === "" ? "" : "is-tainted",
  ];
  const [into, outOf] = ENDS[direction];
  return (
    <div
      className={`graph-node ${look === undefined ? "is-preview" : `is-${look}`} ${states.join(" ")}`}
      data-node={drawn.id}
      data-status={look}
    >
      <Handle type="target" position={into} isConnectable={false} />
      {look !== undefined && counts === undefined && <StatusIcon status={look} />}
      <div className="graph-node-text">
        <strong>{drawn.label || drawn.id}</strong>
        {look !== undefined && counts !== undefined ? (
          <TallyLine counts={counts} />
        ) : (
          <span>{noteOf(data)}</span>
        )}
      </div>
      <Marks view={view} />
      <Handle type="source" position={outOf} isConnectable={false} />
    </div>
  );
});

const ENDS = {
  right: [Position.Left, Position.Right],
  down: [Position.Top, Position.Bottom],
} as const;

function noteOf({ drawn, view, look, countdown }: FlowNode["data"]): string {
  if (look === undefined) return drawn.type;
  if (look === "running" && view !== undefined && view.text !== "")
    return view.text.slice(-EXCERPT);
  return `${drawn.type} · ${statusName(look)}${countdown === "" ? "" : ` ${countdown}`}`;
}

function Marks({ view }: { readonly view: NodeView | undefined }): ReactNode {
  if (view === undefined) return null;
  const marks = [
    view.attempt > 1 ? `attempt ${view.attempt}` : "",
    view.lostDeliveries > 0 ? `${view.lostDeliveries} lost` : "",
  ].filter((mark) => mark !== "");
  const all = [roundText(view), iterationsText(view), ...marks].filter((mark) => mark !== "");
  const labels = labelsIn([view]);
  return (
    <>
      {all.length > 0 && (
        <span className={marks.length > 0 ? "graph-node-marks" : "graph-node-marks is-count"}>
          {all.join(", ")}
        </span>
      )}
      {labels !== "" && (
        <span className="graph-node-labels" title="Labels of untrusted data" data-labels={labels}>
          {labels}
        </span>
      )}
    </>
  );
}

export type FlowEdge = Edge<
  {
    readonly bends: readonly Place[];
    readonly direction: Direction;
    /** It leads back to an earlier node. */
    readonly isLoop: boolean;
  },
  "pawl"
>;

export function GraphEdge(props: EdgeProps<FlowEdge>): ReactNode {
  const { sourceX, sourceY, targetX, targetY, data, label, markerEnd } = props;
  const bends = data?.bends ?? [];
  const source = { x: sourceX, y: sourceY };
  const target = { x: targetX, y: targetY };
  const first = bends[0] ?? target;
  const middle = { x: (source.x + first.x) / 2, y: (source.y + first.y) / 2 };
  const routed =
    data?.isLoop === true
      ? routeBack(source, target, data.direction)
      : { path: routeEdge(source, bends, target, data?.direction), middle };
  return (
    <BaseEdge
      path={routed.path}
      label={label}
      labelX={routed.middle.x}
      labelY={routed.middle.y}
      {...(markerEnd === undefined ? {} : { markerEnd })}
    />
  );
}
