// The path of an edge through the points the layout gave it, so that a long edge goes around the nodes between its ends.

import type { Place } from "./layout.ts";
import type { Direction } from "./layout.ts";

/** A bend nearer to an end than this would make a kink there. */
const CURVE_PX = 16;

const turned = ({ x, y }: Place): Place => ({ x: y, y: x });
const same = (place: Place): Place => place;

/** An SVG path from `source` over the `bends` to `target`, along the direction of the graph at every point. */
export function routeEdge(
  source: Place,
  bends: readonly Place[],
  target: Place,
  direction: Direction = "right",
): string {
  // A graph that runs down is one that runs right, with x and y exchanged.
  const turn = direction === "right" ? same : turned;
  const write = (x: number, y: number): string => {
    const at = turn({ x, y });
    return `${at.x},${at.y}`;
  };
  const [first, last] = [turn(source), turn(target)];
  const between = (bend: Place): boolean =>
    bend.x - first.x >= CURVE_PX && last.x - bend.x >= CURVE_PX;
  const stops = [...bends.map(turn).filter(between), last];
  let at = first;
  let path = `M${write(at.x, at.y)}`;
  for (const stop of stops) {
    const half = (stop.x - at.x) / 2;
    path += ` C${write(at.x + half, at.y)} ${write(stop.x - half, stop.y)} ${write(stop.x, stop.y)}`;
    at = stop;
  }
  return path;
}
