// Writes a filter in one form, so that filters which differ in spaces and quotes are the same text.

import type { Argument, Filter } from "./ast.ts";

/** The text of a filter. Reading it gives the filter again. */
export function printFilter(filter: Filter): string {
  switch (filter.kind) {
    case "and":
      return filter.parts.map(inside).join(" AND ");
    case "or":
      return filter.parts.map(inside).join(" OR ");
    case "not":
      return `NOT ${inside(filter.part)}`;
    case "compare": {
      const { path, comparator, argument } = filter;
      return `${path.map(segmentText).join(".")} ${comparator} ${argumentText(argument)}`;
    }
  }
}

const inside = (filter: Filter): string =>
  filter.kind === "compare" ? printFilter(filter) : `(${printFilter(filter)})`;

const PLAIN_NAME = /^(?!(?:AND|OR|NOT)$)(?:[\p{L}_][\p{L}\p{N}_-]*|[0-9][\p{L}\p{N}_-]*)$/u;

const segmentText = (name: string): string =>
  PLAIN_NAME.test(name) ? name : `"${escapedText(name)}"`;

function argumentText({ text, isQuoted, opensStart, opensEnd }: Argument): string {
  const quote = isQuoted ? '"' : "";
  const inner = isQuoted ? escapedText(text).replaceAll("*", String.raw`\*`) : text;
  // A wildcard alone opens both ends.
  const end = opensEnd && (text !== "" || !opensStart) ? "*" : "";
  return `${quote}${opensStart ? "*" : ""}${inner}${end}${quote}`;
}

const escapedText = (text: string): string =>
  text
    .replaceAll(/[\\"]/g, String.raw`\$&`)
    .replaceAll("\n", String.raw`\n`)
    .replaceAll("\t", String.raw`\t`);
