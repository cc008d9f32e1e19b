// A node as drawn: its shape and colour say where it stands, small marks say how it got there. A group of equal siblings is drawn as
// one node with counts.

import { Handle, Position } from "@xyflow/react";
import type { Node, NodeProps } from "@xyflow/react";
import type { ReactNode } from "react";
import { memo } from "react";
import type { Look } from "../run/looks.ts";
import { iterationsText } from "../run/iterations-text.ts";
import type { NodeView } from "@pawl/core/log/view";
import { StatusIcon, statusName } from "../ui/status-icon.tsx";
import type { DrawnNode } from "./definition.ts";
import type { Direction } from "./layout.ts";
import { TallyLine } from "./tally-line.tsx";
import type { Count } from "./tally.ts";

export type FlowNode = Node<
  {
    readonly drawn: DrawnNode;
    readonly view: NodeView | undefined;
    /** Absent in a preview of a definition. */
    readonly look: Look | undefined;
    /** What a delay still holds back: `43 s`. */
    readonly countdown: string;
    /** Of a group: its members by look. */
    readonly counts: readonly Count[] | undefined;
    readonly isOpen: boolean;
    readonly isFound: boolean;
    readonly direction: Direction;
  },
  "pawl"
>;

const EXCERPT = 34;

/** Draws one node. */
export const GraphNode = memo(function GraphNode({ data }: NodeProps<FlowNode>): ReactNode {
  const { drawn, view, look, counts, isOpen, isFound, direction } = data;
  const states = [isOpen ? "is-open" : "", isFound ? "is-found" : "", counts ? "is-group" : ""];
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
  const all = [iterationsText(view), ...marks].filter((mark) => mark !== "");
  if (all.length === 0) return null;
  return (
    <span className={marks.length > 0 ? "graph-node-marks" : "graph-node-marks is-count"}>
      {all.join(", ")}
    </span>
  );
}
