// A table of aligned columns, cut to the width of the terminal, and facts by name, which are wrapped. If a table is too wide, the widest
// columns shrink first. Columns that are useless when cut, such as ids and states, keep their width. The functions are pure.

import {
  type Canvas,
  type Span,
  cutText,
  displayWidth,
  padText,
  paintLine,
  safeText,
  wrapText,
} from "./spans.ts";

/** The widest cell, also without a terminal. `-o json` shows a message of 2,000 characters whole. */
const CELL_WIDTH_MAX = 160;
const CELL_WIDTH_MIN = 6;
const GAP = 2;

/** Columns that are never cut. */
const WHOLE = new Set([
  "APPROVAL",
  "AGO",
  "ATTEMPT",
  "DAY",
  "RUN",
  "STATE",
  "STATUS",
  "TOOK",
  "VERSION",
]);

/** A cell: plain text, or a styled piece. */
export type Cell = string | Span;

const spanOf = (cell: Cell): Span => (typeof cell === "string" ? { text: cell } : cell);

/** Heads in capitals, then a line per row. */
export function tableLines(
  heads: readonly string[],
  cells: readonly (readonly Cell[])[],
  canvas: Canvas,
): readonly string[] {
  const rows = cells.map((row) => row.map(spanOf));
  const natural = heads.map((head, column) =>
    Math.min(
      CELL_WIDTH_MAX,
      rows.reduce(
        (width, row) => Math.max(width, displayWidth(safeText(row[column]?.text ?? ""))),
        displayWidth(head),
      ),
    ),
  );
  const widths = fit(heads, natural, canvas.width);
  const all = [heads.map((head): Span => ({ text: head, style: "dim" })), ...rows];
  return all.map((row) =>
    paintLine(
      row.map(({ text, style = "plain" }, column) => {
        const width = widths[column] ?? 0;
        const cell = padText(cutText(safeText(text), width), width);
        return { text: column === row.length - 1 ? cell : cell + " ".repeat(GAP), style };
      }),
      canvas,
    ),
  );
}

/** Shrinks the widest column that may shrink until all columns fit, or none may shrink further. */
function fit(heads: readonly string[], natural: readonly number[], width: number): number[] {
  const widths = [...natural];
  let excess = widths.reduce((sum, each) => sum + each, GAP * (widths.length - 1)) - width;
  while (excess > 0) {
    const giving = widths.reduce(
      (best, each, column) =>
        !WHOLE.has(heads[column] ?? "") && each > Math.max(CELL_WIDTH_MIN, widths[best] ?? 0)
          ? column
          : best,
      -1,
    );
    if (giving < 0) return widths;
    widths[giving] = (widths[giving] ?? 0) - 1;
    excess -= 1;
  }
  return widths;
}

const NAME_WIDTH = 12;

/** A name and its value on as many lines as the value needs. None for an empty value. The value is never cut. */
export function factLines(
  name: string,
  value: Span,
  canvas: Canvas,
  nameWidth = NAME_WIDTH,
): readonly string[] {
  if (value.text === "") return [];
  const room = Math.max(20, canvas.width - nameWidth);
  return wrapText(safeText(value.text), room).map((text, at) =>
    paintLine(
      [
        { text: padText(at === 0 ? name : "", nameWidth), style: "dim" },
        { ...value, text },
      ],
      canvas,
    ),
  );
}
