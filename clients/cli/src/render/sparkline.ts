// A plot in one line of text. The functions are pure.

const BARS = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
const NOTHING = " ";

/** A point of a plot. The value is undefined where nothing is known. */
type Value = number | undefined;

/**
 * Bars for values over time, from 0 to the largest. If there are more values than columns, a column shows the largest of its values, so no
 * peak is lost.
 */
export function sparkLine(values: readonly Value[], width: number): string {
  const columns = Math.min(width, values.length);
  const buckets = Array.from({ length: columns }, (_, column) =>
    largest(
      values.slice(
        Math.floor((column * values.length) / columns),
        Math.floor(((column + 1) * values.length) / columns),
      ),
    ),
  );
  const top = largest(buckets) ?? 0;
  return buckets.map((value) => barOf(value, top)).join("");
}

function barOf(value: Value, top: number): string {
  if (value === undefined) return NOTHING;
  const step = top === 0 ? 0 : Math.ceil((value / top) * (BARS.length - 1));
  return BARS[step] ?? NOTHING;
}

/** The largest value that is known. */
export const largest = (values: readonly Value[]): Value =>
  values.reduce(
    (max, value) => (value === undefined || (max ?? -1) > value ? max : value),
    undefined,
  );

/** Values by their place in time, with undefined where there is none. Times and steps are in milliseconds. */
export function onTimeline<Point extends { readonly at: number }>(
  points: readonly Point[],
  stepMs: number,
  lengthMax: number,
): readonly (Point | undefined)[] {
  const last = points.at(-1);
  if (last === undefined) return [];
  const line: (Point | undefined)[] = [];
  for (const point of points) {
    const back = Math.round((last.at - point.at) / stepMs);
    if (back < lengthMax) line[lengthMax - 1 - back] = point;
  }
  const begin = line.findIndex((point) => point !== undefined);
  return Array.from({ length: lengthMax - begin }, (_, index) => line[begin + index]);
}
