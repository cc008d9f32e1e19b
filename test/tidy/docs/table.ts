// A Markdown table as the formatter leaves it: every column as wide as its widest cell.

/** `rows` under `head`; a bar inside a cell is escaped. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [head, ...rows].map((row) => row.map((cell) => cell.replaceAll("|", "\\|")));
  const widths = head.map((_, at) => Math.max(3, ...cells.map((row) => row[at]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" | ")} |`;
  const rule = widths.map((width) => "-".repeat(width));
  const [top = [], ...rest] = cells;
  return [line(top), line(rule), ...rest.map(line)].join("\n");
}

/** A word of code inside of a text. */
export const code = (text: string): string => `\`${text}\``;
