// What a bench prints: a table for people, and with --json one object a line for machines.

export interface Figure {
  readonly bench: string;
  readonly metric: string;
  readonly value: number;
  readonly unit: string;
  /** Against the ceiling named in the metric's floor; absent where there is none. */
  readonly ratio?: number;
  /** What must be reached, for people: "≥ 0.4 × hand-off". */
  readonly floor?: string;
  readonly reached?: boolean;
}

export class Report {
  readonly #json: boolean;
  readonly #figures: Figure[] = [];

  constructor(json: boolean) {
    this.#json = json;
  }

  add(figure: Figure): void {
    this.#figures.push(figure);
    const { bench, metric, value, unit, ratio } = figure;
    if (this.#json)
      console.log(JSON.stringify({ bench, metric, value, unit, ratio: ratio ?? null }));
    else console.log(line(figure));
  }

  /** Names the floors that were missed; a bench reports, it does not judge by its exit code. */
  finish(): void {
    if (this.#json) return;
    const missed = this.#figures.filter((figure) => figure.reached === false);
    console.log(missed.length === 0 ? "\nevery floor was reached" : "\nfloors missed:");
    for (const figure of missed) console.log(line(figure));
  }
}

function line({ bench, metric, value, unit, ratio, floor, reached }: Figure): string {
  const number = value.toLocaleString("en", { maximumFractionDigits: value < 100 ? 2 : 0 });
  const cells = [bench.padEnd(8), metric.padEnd(38), `${number} ${unit}`.padEnd(22)];
  if (ratio !== undefined) cells.push(`${ratio.toFixed(2)} ×`.padEnd(9));
  if (floor !== undefined) cells.push(`${floor} ${reached ? "✓" : "✗"}`);
  return cells.join(" ");
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** Nearest-rank percentile. */
export function percentile(values: readonly number[], fraction: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * fraction))] ?? Number.NaN;
}
