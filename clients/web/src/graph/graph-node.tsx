// A node as drawn: its shape and colour say where it stands, small marks say how it got there.

import { Handle, Position } from "@xyflow/react";
import type { Node, NodeProps } from "@xyflow/react";
import type { ReactNode } from "react";
import { memo } from "react";
import { iterationsText } from "../run/view.ts";
import type { NodeView } from "../run/view.ts";
import { StatusIcon, statusName } from "../ui/status-icon.tsx";
import type { DrawnNode } from "./definition.ts";

export type FlowNode = Node<
  {
    readonly drawn: DrawnNode;
    readonly view: NodeView | undefined;
    readonly isOpen: boolean;
    readonly isPreview: boolean;
  },
  "pawl"
>;

const EXCERPT = 34;

/** Draws one node. */
export const GraphNode = memo(function GraphNode({ data }: NodeProps<FlowNode>): ReactNode {
  const { drawn, view, isOpen, isPreview } = data;
  const status = view?.status ?? "pending";
  const isStreaming = view !== undefined && view.text !== "" && status === "running";
  const marks = [
    view !== undefined && view.attempt > 1 ? `attempt ${view.attempt}` : "",
    view !== undefined && view.lostDeliveries > 0 ? `${view.lostDeliveries} lost` : "",
  ].filter((mark) => mark !== "");
  const iterations = view === undefined ? "" : iterationsText(view);
  return (
    <div
      className={`graph-node ${isPreview ? "is-preview" : `is-${status}`} ${isOpen ? "is-open" : ""}`}
      data-node={drawn.id}
      data-status={isPreview ? undefined : status}
    >
      <Handle type="target" position={Position.Left} isConnectable={false} />
      {!isPreview && <StatusIcon status={status} />}
      <div className="graph-node-text">
        <strong>{drawn.label || drawn.id}</strong>
        <span>
          {isStreaming
            ? view.text.slice(-EXCERPT)
            : [drawn.type, ...(isPreview ? [] : [statusName(status)])].join(" · ")}
        </span>
      </div>
      {marks.length + iterations.length > 0 && (
        <span className={marks.length > 0 ? "graph-node-marks" : "graph-node-marks is-count"}>
          {[iterations, ...marks].filter((mark) => mark !== "").join(", ")}
        </span>
      )}
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </div>
  );
});
