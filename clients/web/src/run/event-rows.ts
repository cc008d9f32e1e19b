// The rows of the event log: their texts and colours, the rows that match the reader's filter, and the rows that the page draws. The
// functions are pure.

import { timestampMs } from "@bufbuild/protobuf/wkt";
import { plainEvent } from "@pawl/client";
import { isSettlingType, nodeStatusAfter, runStatusAfter, typeNamed } from "@pawl/core/log/meaning";
import { isStreamedType, type RunEvent as LoggedEvent } from "@pawl/core/log/event";
import type { RunEvent } from "@pawl/proto/pawl/v1/event_pb";
import type { Looks } from "./looks.ts";
import { nodeKey } from "@pawl/core/log/view";

export interface EventRow {
  readonly seq: number;
  readonly type: string;
  readonly nodeId: string;
  readonly iteration: number;
  readonly attempt: number;
  readonly at: number;
  /** The status that the event gives its run or node. "" if it changes none. */
  readonly status: string;
  /** The fact as compact JSON text. */
  readonly payload: string;
}

/** The row of an event. `known` is the same event of the log. Undefined for a type that this console does not know. */
export const eventRow = (event: RunEvent, known: LoggedEvent | undefined): EventRow => ({
  seq: Number(event.eventId),
  type: event.type,
  nodeId: event.nodeId,
  iteration: event.iteration,
  attempt: event.attempt,
  at: event.time === undefined ? 0 : timestampMs(event.time),
  status: known === undefined ? "" : statusAfter(known),
  payload: JSON.stringify(plainEvent(event)["payload"]),
});

const statusAfter = (event: LoggedEvent): string =>
  runStatusAfter(event) ?? nodeStatusAfter(event.type) ?? "";

/** The state of a row. "" for an event that changes none. */
export function toneOf(row: EventRow, looks: Looks): string {
  const look = looks.get(nodeKey(row.nodeId, row.iteration))?.look;
  if (isSettlingType(row.type) && (look === "handled" || look === "not_run")) return look;
  return row.status;
}

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

/** The rows of a kind that contain the text in their type, node or payload. The filter also knows the other names of a type. */
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

/** The half-open range of rows to draw for a scroll position. */
export function windowOf(
  count: number,
  scrollPx: number,
  heightPx: number,
  rowPx: number,
): { readonly first: number; readonly last: number } {
  if (count <= WINDOW_FROM) return { first: 0, last: count };
  const first = Math.max(Math.floor(scrollPx / rowPx) - MARGIN_ROWS, 0);
  const last = Math.min(Math.ceil((scrollPx + heightPx) / rowPx) + MARGIN_ROWS, count);
  return { first: Math.min(first, last), last };
}
