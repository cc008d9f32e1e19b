// The path of an edge through the points the layout gave it, so that a long edge goes around the nodes between its ends.

import type { Place } from "./layout.ts";

/** A bend nearer to an end than this would make a kink there. */
const CURVE_PX = 16;

/** An SVG path from `source` over the `bends` to `target`, level at every point as the graph runs left to right. */
export function routeEdge(source: Place, bends: readonly Place[], target: Place): string {
  const between = (bend: Place): boolean =>
    bend.x - source.x >= CURVE_PX && target.x - bend.x >= CURVE_PX;
  const stops = [...bends.filter(between), target];
  let at = source;
  let path = `M${source.x},${source.y}`;
  for (const stop of stops) {
    const half = (stop.x - at.x) / 2;
    path += ` C${at.x + half},${at.y} ${stop.x - half},${stop.y} ${stop.x},${stop.y}`;
    at = stop;
  }
  return path;
}
