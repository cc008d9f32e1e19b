// The graph of a definition, and of a run on it while it moves. This file and what it imports are the lazily loaded chunk.

import { Background, Controls, MarkerType, ReactFlow } from "@xyflow/react";
import type { ReactFlowInstance } from "@xyflow/react";
import type { ReactNode } from "react";
import { useEffect, useMemo, useRef, useState } from "react";
import type { NodeView } from "../run/view.ts";
import type { DrawnGraph } from "./definition.ts";
import { edgeState } from "./edge-state.ts";
import { GraphEdge } from "./graph-edge.tsx";
import type { FlowEdge } from "./graph-edge.tsx";
import { GraphNode } from "./graph-node.tsx";
import type { FlowNode } from "./graph-node.tsx";
import { layoutGraph, NODE_HEIGHT, NODE_WIDTH } from "./layout.ts";
import type { Layout } from "./layout.ts";

export interface GraphProps {
  readonly graph: DrawnGraph;
  /** The node executions of a run; absent for a preview of the definition. */
  readonly nodes?: ReadonlyMap<string, NodeView>;
  readonly openKey?: string;
  readonly onOpen?: (key: string) => void;
}

const nodeTypes = { pawl: GraphNode };
const edgeTypes = { pawl: GraphEdge };
const fitViewOptions = { padding: 0.06, maxZoom: 1 };
const proOptions = { hideAttribution: true };
const MARGIN_PX = 40;
const HEIGHT_MIN_PX = 220;
const HEIGHT_MAX_PX = 640;
const STROKES = {
  pending: "var(--border-strong)",
  untaken: "var(--border-strong)",
  taken: "var(--s-completed)",
};

/** Draws the graph; a click opens a node. The whole of it stays in view when its place changes size. */
export function GraphView({ graph, nodes, openKey = "", onOpen }: GraphProps): ReactNode {
  const place = useMemo(() => layoutGraph(graph), [graph]);
  const [boxWidth, setBoxWidth] = useState(0);
  const box = useRef<HTMLDivElement>(null);
  const flow = useRef<ReactFlowInstance<FlowNode, FlowEdge>>(null);
  useEffect(() => {
    if (box.current === null) return undefined;
    const observer = new ResizeObserver(([entry]) => {
      if (entry !== undefined) setBoxWidth(entry.contentRect.width);
      void flow.current?.fitView(fitViewOptions);
    });
    observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  const flowNodes = useMemo(
    () => drawNodes(graph, place, nodes, openKey),
    [graph, place, nodes, openKey],
  );
  const flowEdges = useMemo(() => drawEdges(graph, place, nodes), [graph, place, nodes]);
  return (
    <div className="graph" ref={box} style={{ height: heightFor(place, boxWidth) }}>
      <ReactFlow
        nodes={flowNodes}
        edges={flowEdges}
        nodeTypes={nodeTypes}
        edgeTypes={edgeTypes}
        onInit={(instance) => (flow.current = instance)}
        onNodeClick={(_, node) => onOpen?.(node.id)}
        fitView
        fitViewOptions={fitViewOptions}
        minZoom={0.1}
        nodesDraggable={false}
        nodesConnectable={false}
        edgesFocusable={false}
        zoomOnScroll={false}
        preventScrolling={false}
        proOptions={proOptions}
        colorMode="system"
      >
        <Background gap={20} size={1} />
        <Controls
          position="bottom-right"
          orientation="horizontal"
          showInteractive={false}
          fitViewOptions={fitViewOptions}
        />
      </ReactFlow>
    </div>
  );
}

/** As tall as the graph needs at the scale its width allows, within reason. */
function heightFor(place: Layout, boxWidth: number): number {
  const scale = Math.min(1, boxWidth / Math.max(place.width, 1));
  const wanted = place.height * scale + 2 * MARGIN_PX;
  return Math.min(Math.max(wanted, HEIGHT_MIN_PX), HEIGHT_MAX_PX);
}

type Nodes = ReadonlyMap<string, NodeView> | undefined;

const drawNodes = (graph: DrawnGraph, place: Layout, nodes: Nodes, openKey: string): FlowNode[] =>
  graph.nodes.map((drawn) => ({
    id: drawn.id,
    type: "pawl",
    position: place.nodes.get(drawn.id) ?? { x: 0, y: 0 },
    width: NODE_WIDTH,
    height: NODE_HEIGHT,
    data: {
      drawn,
      view: nodes?.get(drawn.id),
      isOpen: drawn.id === openKey,
      isPreview: nodes === undefined,
    },
  }));

const drawEdges = (graph: DrawnGraph, place: Layout, nodes: Nodes): FlowEdge[] =>
  graph.edges.map((edge) => {
    const state = edgeState(edge, nodes?.get(edge.source));
    return {
      id: edge.id,
      type: "pawl",
      source: edge.source,
      target: edge.target,
      className: `edge-${state}`,
      animated: state === "taken" && nodes?.get(edge.target)?.status === "running",
      markerEnd: { type: MarkerType.ArrowClosed, width: 15, height: 15, color: STROKES[state] },
      data: { bends: place.bends.get(edge.id) ?? [] },
      ...(edge.handle === "" ? {} : { label: edge.handle }),
    };
  });
