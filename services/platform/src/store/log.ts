// The read side of the log: pages of events after a cursor. What these functions return is contiguous from the cursor, since
// a seq is only visible once every seq before it is (both are written under the run's row lock).

import type { RunEvent } from "@pawl/core/log/event";
import type { RunId } from "@pawl/core/name/ids";
import { type Queryable, run } from "../db/sql.ts";
import { type EventRow, toEvent } from "./event-row.ts";
import { readEventPage } from "./statements/read-events.ts";
import { readEventsOfMany as readEventsOfManyStatement } from "./statements/read-events-of-many.ts";

/** How much of the users' JSON one read brings into memory; one event more may come on top. */
export const PAGE_BYTES = 2 * 1024 * 1024;
const BATCH_BYTES = 8 * 1024 * 1024;

export interface LogCursor {
  readonly runId: RunId;
  /** The last seq the reader has; 0 for none. */
  readonly afterSeq: number;
}

export interface EventPage {
  readonly events: readonly RunEvent[];
  /** False only when the page certainly reached the end of the log as it was. */
  readonly hasMore: boolean;
}

/** Up to `limit` events of one run after a cursor. A run that does not exist has none. @throws STORE_UNAVAILABLE */
export async function readEvents(
  db: Queryable,
  runId: RunId,
  afterSeq: number,
  limit: number,
): Promise<EventPage> {
  // One row more than asked for says whether there are more.
  const rows = await run<EventRow>(db, readEventPage, [runId, afterSeq, limit + 1, PAGE_BYTES]);
  const events = rows.slice(0, limit).map(toEvent);
  return { events, hasMore: rows.length > limit || bytesOf(rows) >= PAGE_BYTES };
}

/**
 * Up to `limitPerRun` events after each cursor, in one statement, answered in the order of the cursors. A run may be asked
 * for more than once. @throws STORE_UNAVAILABLE
 */
export async function readEventsOfMany(
  db: Queryable,
  cursors: readonly LogCursor[],
  limitPerRun: number,
): Promise<EventPage[]> {
  const rows = await run<EventRow & { readonly slot: number }>(db, readEventsOfManyStatement, [
    cursors.map((cursor) => cursor.runId),
    cursors.map((cursor) => cursor.afterSeq),
    limitPerRun,
    BATCH_BYTES,
  ]);
  const pages: RunEvent[][] = cursors.map(() => []);
  for (const row of rows) pages[row.slot - 1]?.push(toEvent(row));
  // Once the budget of bytes is spent, the page that spent it and all after it may be cut short.
  const firstCut = bytesOf(rows) >= BATCH_BYTES ? (rows.at(-1)?.slot ?? 1) - 1 : cursors.length;
  return pages.map((events, index) => ({
    events,
    hasMore: events.length >= limitPerRun || index >= firstCut,
  }));
}

/** A lower bound of what the database counted: characters are at most as many as their bytes. */
function bytesOf(rows: readonly EventRow[]): number {
  let bytes = 0;
  for (const row of rows) if (row.value !== null) bytes += Buffer.byteLength(row.value);
  return bytes;
}
