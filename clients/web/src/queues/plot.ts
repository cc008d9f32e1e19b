// The geometry of a plot over time: from points to a path in a box of 100 by 100, with gaps where no sample is. The functions are pure.

interface Point {
  readonly atMs: number;
  readonly value: number;
}

interface Plot {
  /** The path of the line. It is broken at a gap. */
  readonly line: string;
  /** The path of the area below the line. */
  readonly area: string;
  /** The value at the top of the box. */
  readonly top: number;
  /** The newest and the largest value. */
  readonly last: number;
  readonly peak: number;
}

/** A point this many usual distances after the one before it begins a new piece of the line. */
const GAP = 2.5;
/** The largest value stays below the edge. */
const HEADROOM = 1.1;
/** The box of a plot in which every value is 0. */
const TOP_MIN = 1;

/** Lays out points in order of time. `endMs` is the right edge. Undefined without points in the range. */
export function layoutPlot(
  points: readonly Point[],
  { stepMs, rangeMs, endMs }: { stepMs: number; rangeMs: number; endMs: number },
): Plot | undefined {
  const begin = endMs - rangeMs;
  const shown = points.filter(({ atMs }) => atMs >= begin && atMs <= endMs);
  const last = shown.at(-1);
  if (last === undefined) return undefined;
  const peak = Math.max(...shown.map(({ value }) => value));
  const top = Math.max(TOP_MIN, peak * HEADROOM);
  const place = ({ atMs, value }: Point) => ({
    x: round(((atMs - begin) / rangeMs) * 100),
    y: round(100 - (value / top) * 100),
  });
  const pieces = piecesOf(shown, usualDistance(shown, stepMs)).map((piece) => piece.map(place));
  return {
    line: pieces.map(lineOf).join(""),
    area: pieces.map(areaOf).join(""),
    ...{ top, last: last.value, peak },
  };
}

/** The median distance of points in time, and at least a step: samples may be rarer than steps. */
function usualDistance(points: readonly Point[], stepMs: number): number {
  const distances = points.slice(1).map(({ atMs }, at) => atMs - (points[at]?.atMs ?? atMs));
  const sorted = distances.toSorted((a, b) => a - b);
  return Math.max(stepMs, sorted[Math.floor(sorted.length / 2)] ?? 0);
}

/** The points between gaps. */
function piecesOf(points: readonly Point[], distanceMs: number): Point[][] {
  const pieces: Point[][] = [];
  let before = -Infinity;
  for (const point of points) {
    const piece = pieces.at(-1);
    if (piece === undefined || point.atMs - before > distanceMs * GAP) pieces.push([point]);
    else piece.push(point);
    before = point.atMs;
  }
  return pieces;
}

interface Place {
  readonly x: number;
  readonly y: number;
}

/** A piece of one point is a short dash. */
const lineOf = (piece: readonly Place[]): string => {
  const [first, ...others] = piece;
  if (first === undefined) return "";
  const rest = others.length === 0 ? "h.6" : others.map(({ x, y }) => `L${x} ${y}`).join("");
  return `M${first.x} ${first.y}${rest}`;
};

const areaOf = (piece: readonly Place[]): string => {
  const last = piece.at(-1);
  const first = piece[0];
  if (first === undefined || last === undefined) return "";
  return `${lineOf(piece)}L${last.x} 100L${first.x} 100Z`;
};

const round = (value: number): number => Math.round(value * 100) / 100;
