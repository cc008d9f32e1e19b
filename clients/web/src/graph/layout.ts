// Places the nodes of a graph with dagre, and routes its edges: left to right, or downwards if the width is small. It is pure, and part of
// the lazily loaded chunk.

import { graphlib, layout } from "@dagrejs/dagre";
import type { DrawnEdge, DrawnGraph, DrawnNode } from "@pawl/client";

export const NODE_WIDTH = 196;
export const NODE_HEIGHT = 56;

/** Edges to the next depth weigh more: a node is placed where it may start, not where its output is needed. */
const DIRECT_WEIGHT = 8;

/** With more nodes in a column, nodes are closer and their edges get more room. */
const TALL_FROM = 8;

export type Direction = "right" | "down";

export interface Place {
  readonly x: number;
  readonly y: number;
}

export interface Layout {
  /** The top left corner of every node, by id. */
  readonly nodes: ReadonlyMap<string, Place>;
  /** The bends of a long edge, by id. */
  readonly bends: ReadonlyMap<string, readonly Place[]>;
  readonly width: number;
  readonly height: number;
}

/** Lays out a graph. An edge to a node that does not exist is left out. */
export function layoutGraph(graph: DrawnGraph, direction: Direction = "right"): Layout {
  const sheet = new graphlib.Graph({ multigraph: true });
  for (const node of graph.nodes) {
    sheet.setNode(node.id, { width: NODE_WIDTH, height: NODE_HEIGHT });
  }
  const known = new Set(graph.nodes.map((node) => node.id));
  const edges = graph.edges.filter((edge) => known.has(edge.source) && known.has(edge.target));
  const depths = depthsOf(
    graph.nodes,
    edges.filter(({ loop }) => loop !== true),
  );
  const isTall = widestDepth(depths) > TALL_FROM;
  const isDown = direction === "down";
  const ranksep = isDown ? 44 : isTall ? 120 : 68;
  sheet.setGraph({ rankdir: isDown ? "TB" : "LR", nodesep: isTall ? 14 : 26, ranksep });
  for (const { id, source, target, loop } of edges) {
    // A loop edge leads back: the layout sees it the other way round, so that it does not turn the graph.
    if (loop === true) {
      sheet.setEdge(target, source, { weight: 0 }, id);
      continue;
    }
    const isDirect = depths.get(target) === (depths.get(source) ?? 0) + 1;
    sheet.setEdge(source, target, { weight: isDirect ? DIRECT_WEIGHT : 1 }, id);
  }
  layout(sheet);
  const nodes = graph.nodes.map(({ id }) => {
    const { x = 0, y = 0 } = sheet.node(id) as Partial<Place>; // dagre types its labels as anything
    return [id, { x: x - NODE_WIDTH / 2, y: y - NODE_HEIGHT / 2 }] as const;
  });
  const bends = edges.map(({ id, source, target, loop }) => {
    const ends = loop === true ? ([target, source] as const) : ([source, target] as const);
    const { points: laid = [] } = sheet.edge(...ends, id) as { points?: Place[] }; // as above
    const points = loop === true ? laid.toReversed() : laid;
    // The first and the last point lie on the nodes. Three in all is a straight edge with its middle.
    return [id, points.length > 3 ? points.slice(1, -1) : []] as const;
  });
  const { width = 0, height = 0 } = sheet.graph() as { width?: number; height?: number }; // as above
  const found = { nodes: new Map(nodes), bends: new Map(bends), width, height };
  return !isDown && isUpsideDown(found) ? turnOver(found) : found;
}

/** Whether most neighbours in a column are in the reverse order of the definition. */
function isUpsideDown({ nodes }: Layout): boolean {
  const places = [...nodes.values()];
  const turned = places.map((place, index) => {
    const next = places[index + 1];
    return next === undefined || next.x !== place.x ? 0 : Math.sign(place.y - next.y);
  });
  return turned.reduce((sum, sign) => sum + sign, 0) > 0;
}

function turnOver({ nodes, bends, width, height }: Layout): Layout {
  const over = <T>(map: ReadonlyMap<string, T>, turn: (value: T) => T): ReadonlyMap<string, T> =>
    new Map(Array.from(map, ([id, value]) => [id, turn(value)]));
  return {
    nodes: over(nodes, ({ x, y }) => ({ x, y: height - NODE_HEIGHT - y })),
    bends: over(bends, (points) => points.map(({ x, y }) => ({ x, y: height - y }))),
    width,
    height,
  };
}

/** How many nodes lie at the depth that has the most. */
function widestDepth(depths: ReadonlyMap<string, number>): number {
  const groups = Map.groupBy(depths.values(), (depth) => depth);
  return Math.max(0, ...Array.from(groups.values(), ({ length }) => length));
}

/** The longest way from a root to each node. A cycle, which no saved definition has, stops at the number of nodes. */
function depthsOf(
  nodes: readonly DrawnNode[],
  edges: readonly DrawnEdge[],
): ReadonlyMap<string, number> {
  const depths = new Map(nodes.map((node) => [node.id, 0]));
  let isMoving = true;
  for (let round = 0; isMoving && round < nodes.length; round++) {
    isMoving = false;
    for (const { source, target } of edges) {
      const depth = (depths.get(source) ?? 0) + 1;
      if (depth <= (depths.get(target) ?? 0)) continue;
      depths.set(target, depth);
      isMoving = true;
    }
  }
  return depths;
}

/** How far a loop edge runs beside its nodes, and how wide its turns are. */
const BESIDE_PX = 20;
const TURN_PX = 28;

/** A loop edge: out of `source`, back beside the nodes, and into `target`. `middle` is the place of its label. */
export function routeBack(
  source: Place,
  target: Place,
  direction: Direction = "right",
): { readonly path: string; readonly middle: Place } {
  const turn = direction === "right" ? same : turned;
  const [from, to] = [turn(source), turn(target)];
  const half = (direction === "right" ? NODE_HEIGHT : NODE_WIDTH) / 2;
  const y = Math.min(from.y, to.y) - half - BESIDE_PX;
  const write = (at: Place): string => `${turn(at).x},${turn(at).y}`;
  const curve = (...places: readonly Place[]): string => ` C${places.map(write).join(" ")}`;
  const [out, into] = [from.x + TURN_PX, to.x - TURN_PX];
  const path =
    `M${write(from)}` +
    curve({ x: out, y: from.y }, { x: out, y }, { x: from.x - TURN_PX, y }) +
    ` L${write({ x: to.x + TURN_PX, y })}` +
    curve({ x: into, y }, { x: into, y: to.y }, to);
  return { path, middle: turn({ x: (from.x + to.x) / 2, y }) };
}

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
