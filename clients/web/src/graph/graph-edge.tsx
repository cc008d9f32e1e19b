// An edge as drawn: its line says whether the run went along it, its label names the handle it leaves by.

import { BaseEdge } from "@xyflow/react";
import type { Edge, EdgeProps } from "@xyflow/react";
import type { ReactNode } from "react";
import type { Direction, Place } from "./layout.ts";
import { routeEdge } from "./route-edge.ts";

export type FlowEdge = Edge<
  { readonly bends: readonly Place[]; readonly direction: Direction },
  "pawl"
>;

/** Draws one edge. */
export function GraphEdge(props: EdgeProps<FlowEdge>): ReactNode {
  const { sourceX, sourceY, targetX, targetY, data, label, markerEnd } = props;
  const bends = data?.bends ?? [];
  const source = { x: sourceX, y: sourceY };
  const first = bends[0] ?? { x: targetX, y: targetY };
  return (
    <BaseEdge
      path={routeEdge(source, bends, { x: targetX, y: targetY }, data?.direction)}
      label={label}
      labelX={(source.x + first.x) / 2}
      labelY={(source.y + first.y) / 2}
      {...(markerEnd === undefined ? {} : { markerEnd })}
    />
  );
}
