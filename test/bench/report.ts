// The output of a bench: a table of at most 80 columns for people, and with --json one object a line for machines. Progress goes to
// stderr.

interface Figure {
  readonly bench: string;
  readonly metric: string;
  readonly value: number;
  readonly unit: string;
  /** The same figure of the build that this one is compared with. */
  readonly before?: number;
  /** Against the ceiling named in the metric, or how many times as fast as before; absent where there is nothing to compare. */
  readonly ratio?: number;
  /** The target, for people: "≥ 0.4 ×". */
  readonly floor?: string;
  readonly reached?: boolean;
  /** Whether a target that was missed makes the bench fail. */
  readonly isLimit?: boolean;
}

const METRIC_COLUMNS = 30;

/** Says on stderr what the bench does now. */
export const progress = (text: string): void => console.error(`… ${text}`);

export class Report {
  readonly #json: boolean;
  readonly #figures: Figure[] = [];

  constructor(json: boolean) {
    this.#json = json;
  }

  add(figure: Figure): void {
    this.#figures.push(figure);
    const { bench, metric, value, unit, before, ratio } = figure;
    if (this.#json)
      console.log(JSON.stringify({ bench, metric, value, unit, before, ratio: ratio ?? null }));
    else console.log(line(figure));
  }

  /** Names the floors that were missed. Only a limit that was missed makes the exit code 1; `control` judges by itself. */
  finish(): void {
    const missed = this.#figures.filter((figure) => figure.reached === false);
    if (missed.some(({ isLimit }) => isLimit)) process.exitCode = 1;
    if (this.#json) return;
    console.log(missed.length === 0 ? "\nevery floor was reached" : "\nfloors missed:");
    for (const figure of missed) console.log(line(figure));
  }
}

/** One row. A metric that is longer than its column has a line to itself. */
function line({ bench, metric, value, unit, before, ratio, floor, reached }: Figure): string {
  const isLong = metric.length > METRIC_COLUMNS;
  const cells = [bench.padEnd(7), (isLong ? "" : metric).padEnd(METRIC_COLUMNS)];
  if (before !== undefined) cells.push(numberOf(before).padStart(7));
  cells.push(numberOf(value).padStart(7), unit.padEnd(before === undefined ? 11 : 7));
  cells.push((ratio === undefined ? "" : `${ratio.toFixed(2)} ×`).padStart(7));
  if (floor !== undefined) cells.push(`${floor} ${reached === true ? "✓" : "✗"}`);
  const row = cells.join(" ").trimEnd();
  return isLong ? `${bench.padEnd(7)} ${metric}\n${row}` : row;
}

const numberOf = (value: number): string =>
  value.toLocaleString("en", { maximumFractionDigits: value < 100 ? 2 : 0 });

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** Nearest-rank percentile. */
export function percentile(values: readonly number[], fraction: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * fraction))] ?? Number.NaN;
}
