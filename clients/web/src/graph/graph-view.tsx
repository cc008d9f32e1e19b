// The graph of a definition, with the state of a run. This file and its imports are the lazily loaded chunk.

import { Background, Controls, ReactFlow, type ReactFlowInstance } from "@xyflow/react";
import {
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { drawEdges, type Drawing, drawNodes, type DrawnRun } from "./draw.ts";
import type { FoldedGraph } from "./fold.ts";
import { type FlowEdge, type FlowNode, GraphEdge, GraphNode } from "./graph-parts.tsx";
import { type Direction, type Layout, layoutGraph } from "./layout.ts";

export interface GraphProps {
  readonly graph: FoldedGraph;
  /** Absent for a preview of the definition. */
  readonly run?: DrawnRun;
  readonly openKey?: string;
  /** Nodes that match the search. They are marked, and the view moves to them. */
  readonly foundIds?: ReadonlySet<string>;
  readonly onOpen?: (key: string) => void;
}

const nodeTypes = { pawl: GraphNode };
const edgeTypes = { pawl: GraphEdge };
const fitViewOptions = { padding: 0.06, maxZoom: 1 };
const findViewOptions = { padding: 0.4, maxZoom: 1, duration: 200 };
const proOptions = { hideAttribution: true };
const NONE: ReadonlySet<string> = new Set();
const MARGIN_PX = 40;
const HEIGHT_MIN_PX = 220;
const HEIGHT_MAX_PX = { right: 640, down: 1600 } as const;
/** In a narrower box the graph runs down at its full height. The page scrolls, not the graph. */
const NARROW_PX = 560;

/** Draws the graph. A click opens a node. The whole graph stays in view when its box changes size. */
export function GraphView(props: GraphProps): ReactNode {
  const { graph, run, openKey = "", foundIds = NONE, onOpen } = props;
  const box = useRef<HTMLDivElement>(null);
  const boxWidth = useWidth(box);
  const direction: Direction = boxWidth > 0 && boxWidth < NARROW_PX ? "down" : "right";
  const place = useMemo(() => layoutGraph(graph, direction), [graph, direction]);
  const height = heightFor(place, boxWidth, direction);
  const flow = useRef<ReactFlowInstance<FlowNode, FlowEdge>>(null);
  const shownIds = graph.nodes.map(({ id }) => id).filter((id) => foundIds.has(id));
  const aim = shownIds.join(" ");
  useEffect(() => {
    // The library measures its box itself, maybe a frame later.
    const frames = [0, 0];
    const fit = (): void => {
      const nodes = aim === "" ? undefined : aim.split(" ").map((id) => ({ id }));
      void flow.current?.fitView(
        nodes === undefined ? fitViewOptions : { ...findViewOptions, nodes },
      );
    };
    frames[0] = requestAnimationFrame(() => (frames[1] = requestAnimationFrame(fit)));
    return () => frames.forEach((frame) => cancelAnimationFrame(frame));
  }, [place, boxWidth, height, aim]);
  const drawing: Drawing = { graph, place, direction, run, openKey, foundIds };
  const flowNodes = useMemo(() => drawNodes(drawing), Object.values(drawing));
  const flowEdges = useMemo(() => drawEdges(drawing), Object.values(drawing));
  const openFocused = (event: KeyboardEvent): void => {
    const id = event.target instanceof Element ? event.target.getAttribute("data-id") : null;
    if (id === null || (event.key !== "Enter" && event.key !== " ")) return;
    event.preventDefault();
    onOpen?.(id);
  };
  return (
    <div className="graph" ref={box} style={{ height }} onKeyDown={openFocused}>
      <ReactFlow
        nodes={flowNodes}
        edges={flowEdges}
        nodeTypes={nodeTypes}
        edgeTypes={edgeTypes}
        onInit={(instance) => (flow.current = instance)}
        onNodeClick={(_, node) => onOpen?.(node.id)}
        fitView
        fitViewOptions={fitViewOptions}
        minZoom={0.02}
        nodesDraggable={false}
        nodesFocusable={onOpen !== undefined}
        nodesConnectable={false}
        edgesFocusable={false}
        panOnDrag={direction === "right"}
        zoomOnScroll={false}
        preventScrolling={false}
        proOptions={proOptions}
        colorMode="system"
      >
        <Background gap={20} size={1} />
        {direction === "right" && (
          <Controls
            position="bottom-right"
            orientation="horizontal"
            showInteractive={false}
            fitViewOptions={fitViewOptions}
          />
        )}
      </ReactFlow>
    </div>
  );
}

/** The width of an element, live. 0 before it is known. */
function useWidth(box: RefObject<HTMLDivElement | null>): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    if (box.current === null) return undefined;
    const observer = new ResizeObserver(([entry]) => {
      if (entry !== undefined) setWidth(entry.contentRect.width);
    });
    observer.observe(box.current);
    return () => observer.disconnect();
  }, [box]);
  return width;
}

/** The height of the graph at the scale that its width allows, between two limits. */
function heightFor(place: Layout, boxWidth: number, direction: Direction): number {
  const scale = Math.min(1, boxWidth / Math.max(place.width, 1));
  const wanted = place.height * scale + 2 * MARGIN_PX;
  return Math.min(Math.max(wanted, HEIGHT_MIN_PX), HEIGHT_MAX_PX[direction]);
}
