// Which rows of the event log are shown, and which of those are drawn: pure.

import type { EventRow } from "./view.ts";

export type EventKind = "all" | "states" | "failures";

const FAILURES: ReadonlySet<string> = new Set([
  "run.failed",
  "run.cancelled",
  "run.timed_out",
  "run.recovered",
  "node.retried",
  "node.failed",
  "node.timed_out",
  "node.cancelled",
  "moderation.flagged",
  "contract.violated",
]);
const STREAMED: ReadonlySet<string> = new Set(["node.stream.delta", "node.log"]);

/** The rows of a kind that hold the text, in type, node or payload. */
export function filterRows(
  rows: readonly EventRow[],
  kind: EventKind,
  text: string,
): readonly EventRow[] {
  const wanted = text.trim().toLowerCase();
  if (kind === "all" && wanted === "") return rows;
  return rows.filter((row) => {
    if (kind === "failures" && !FAILURES.has(row.type)) return false;
    if (kind === "states" && STREAMED.has(row.type)) return false;
    return (
      wanted === "" || `${row.type} ${row.nodeId} ${row.payload}`.toLowerCase().includes(wanted)
    );
  });
}

/** Beyond this many rows only those in view are drawn. */
export const WINDOW_FROM = 500;
const MARGIN_ROWS = 20;

export interface RowWindow {
  readonly first: number;
  readonly last: number;
}

/** The half-open range of rows to draw for a scroll position. */
export function windowOf(
  count: number,
  scrollPx: number,
  heightPx: number,
  rowPx: number,
): RowWindow {
  if (count <= WINDOW_FROM) return { first: 0, last: count };
  const first = Math.max(Math.floor(scrollPx / rowPx) - MARGIN_ROWS, 0);
  const last = Math.min(Math.ceil((scrollPx + heightPx) / rowPx) + MARGIN_ROWS, count);
  return { first: Math.min(first, last), last };
}
