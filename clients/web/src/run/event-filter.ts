// Which rows of the event log match the reader's filter, and which of those the page draws. Pure.

import { isStreamedType } from "@pawl/core/log/event";
import { typeNamed } from "@pawl/core/log/meaning";
import type { EventRow } from "./event-row.ts";

export type EventKind = "all" | "states" | "failures";

const TROUBLE: ReadonlySet<string> = new Set([
  "failed",
  "timeout",
  "timed_out",
  "cancelled",
  "retrying",
]);
const FINDINGS: ReadonlySet<string> = new Set(["moderation.flagged", "contract.violated"]);

const isTrouble = ({ type, status }: EventRow): boolean =>
  TROUBLE.has(status) || FINDINGS.has(type);

/** The rows of a kind that contain the text in their type, node or payload. Another name of a type finds it too. */
export function filterRows(
  rows: readonly EventRow[],
  kind: EventKind,
  text: string,
): readonly EventRow[] {
  const wanted = text.trim().toLowerCase();
  if (kind === "all" && wanted === "") return rows;
  const named = typeNamed(text.trim());
  return rows.filter((row) => {
    if (kind === "failures" && !isTrouble(row)) return false;
    if (kind === "states" && isStreamedType(row.type)) return false;
    if (row.type === named) return true;
    return (
      wanted === "" || `${row.type} ${row.nodeId} ${row.payload}`.toLowerCase().includes(wanted)
    );
  });
}

/** With more rows than this, the page draws only those in view. */
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
