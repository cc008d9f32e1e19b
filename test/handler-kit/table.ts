// The verdicts of several SDKs as one table: a row for each group, a column for each SDK.
import type { Verdict } from "./run-cases.ts";

/** An SDK that was judged, or the reason why it was not. */
export type Column =
  | { readonly language: string; readonly verdicts: readonly Verdict[] }
  | { readonly language: string; readonly why: string };

const WIDTH = 14;

/** A cell says how many cases passed of how many; a dash stands for none. */
export function tableOf(columns: readonly Column[]): string {
  const groups = new Set(columns.flatMap((column) => of(column).map(({ group }) => group)));
  const row = (head: string, cells: readonly string[]): string =>
    [head.padEnd(WIDTH), ...cells.map((cell) => cell.padEnd(WIDTH))].join("").trimEnd();
  const counted = (name?: string): string[] => columns.map((column) => cellOf(of(column, name)));
  const skipped = columns.flatMap((column) =>
    "why" in column ? [`SKIPPED: ${column.language}, ${column.why}`] : [],
  );
  return [
    row(
      "group",
      columns.map(({ language }) => language),
    ),
    ...[...groups].map((name) => row(name, counted(name))),
    row("all", counted()),
    row(
      "seconds",
      columns.map((column) => secondsOf(of(column))),
    ),
    ...skipped,
  ].join("\n");
}

const of = (column: Column, group?: string): readonly Verdict[] =>
  "why" in column
    ? []
    : column.verdicts.filter((verdict) => group === undefined || verdict.group === group);

function cellOf(verdicts: readonly Verdict[]): string {
  const passed = verdicts.filter(({ failure }) => failure === undefined).length;
  return verdicts.length === 0 ? "-" : `${passed} of ${verdicts.length}`;
}

function secondsOf(verdicts: readonly Verdict[]): string {
  const ms = verdicts.reduce((sum, verdict) => sum + verdict.ms, 0);
  return verdicts.length === 0 ? "-" : (ms / 1_000).toFixed(1);
}
