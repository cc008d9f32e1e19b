// A table of aligned columns; the last one takes what is left of the width.

import { type Canvas, type Span, displayWidth, padText, paintLine, safeText } from "./spans.ts";

const COLUMN_WIDTH_MAX = 48;

/** Heads in capitals, then a line per row. */
export function tableLines(
  heads: readonly string[],
  rows: readonly (readonly Span[])[],
  canvas: Canvas,
): readonly string[] {
  const widths = heads.map((head, column) =>
    Math.min(
      COLUMN_WIDTH_MAX,
      Math.max(
        displayWidth(head),
        ...rows.map((row) => displayWidth(safeText(row[column]?.text ?? ""))),
      ),
    ),
  );
  const all = [heads.map((head): Span => ({ text: head, style: "dim" })), ...rows];
  return all.map((row) =>
    paintLine(
      row.map(({ text, style = "plain" }, column) => {
        const isLast = column === row.length - 1;
        return { text: isLast ? text : `${padText(safeText(text), widths[column] ?? 0)}  `, style };
      }),
      canvas,
    ),
  );
}
