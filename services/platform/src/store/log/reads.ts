// Reads the log: pages of events after a cursor. The events of a page are contiguous from the cursor.

import type { RunEvent } from "@pawl/core/log/event";
import { tagOf, TAGGED_BY_VALUE, TAGGED_TYPES } from "@pawl/core/log/tags";
import type { RunId } from "@pawl/core/name/ids";
import { json, list, lists, number, orNull, text, uuid } from "../../db/columns.ts";
import { EVENT, type EventCells, fromCells, toEvent } from "../../db/event-row.ts";
import { columns, first, queriesBeside, type Queryable, run, valuesOf } from "../../db/query.ts";
import type { EventPage, LogCursor, RunOrigin, TagPage, TagRecord } from "./log.ts";

/** How many bytes of the users' JSON one read brings into memory. One more event may exceed the bound. */
const PAGE_BYTES = 2 * 1024 * 1024;
const BATCH_BYTES = 8 * 1024 * 1024;

const declare = queriesBeside(import.meta.url);

const CURSOR = { runId: uuid<RunId>(), afterSeq: number() };
const PAGE = { limit: number(), bytesMax: number() };
const page = declare("page", { ...CURSOR, ...PAGE }, EVENT);
const pagesOfMany = declare(
  "pages_of_many",
  { ...lists(CURSOR), ...PAGE },
  { ...EVENT, place: number() },
);
const pageToFold = declare(
  "page_to_fold",
  { ...CURSOR, ...PAGE },
  { events: orNull(json<readonly EventCells[]>()) },
);
const load = declare("load", lists({ ...CURSOR, lastSeq: number() }), EVENT);
const count = declare("count", lists({ runId: uuid(), fromSeq: number(), lastSeq: number() }), {
  runId: uuid<RunId>(),
  eventCount: number(),
});
const origin = declare(
  "origin",
  { runId: uuid() },
  { input: orNull(text()), started: json<RunOrigin["started"]>(), metadata: orNull(text()) },
);
const tagged = declare(
  "tagged",
  {
    ...CURSOR,
    limit: number(),
    nodeId: text(),
    types: list(text()),
    typesWithValue: list(text()),
  },
  EVENT,
);

/** Up to `limit` events of one run after a cursor. A run that does not exist has none. @throws STORE_UNAVAILABLE */
export async function readEvents(
  db: Queryable,
  runId: RunId,
  afterSeq: number,
  limit: number,
): Promise<EventPage> {
  // One row more than requested shows whether there are more.
  const rows = await run(db, page, { runId, afterSeq, limit: limit + 1, bytesMax: PAGE_BYTES });
  const events = rows.slice(0, limit).map(toEvent);
  return { events, hasMore: rows.length > limit || bytesOf(rows) >= PAGE_BYTES };
}

/** Up to `limit` events of one run after a cursor, for a fold of a long log. @throws STORE_UNAVAILABLE */
export async function readEventsToFold(
  db: Queryable,
  runId: RunId,
  afterSeq: number,
  limit: number,
): Promise<readonly RunEvent[]> {
  const row = await first(db, pageToFold, { runId, afterSeq, limit, bytesMax: PAGE_BYTES });
  return (row?.events ?? []).map((cells) => fromCells(runId, cells));
}

/**
 * Up to `limitPerRun` events after each cursor, in one statement, in the order of the cursors. A run may have several cursors. @throws
 * STORE_UNAVAILABLE
 */
export async function readEventsOfMany(
  db: Queryable,
  cursors: readonly LogCursor[],
  limitPerRun: number,
): Promise<EventPage[]> {
  const rows = await run(db, pagesOfMany, {
    ...columns(cursors, ["runId", "afterSeq"]),
    limit: limitPerRun,
    bytesMax: BATCH_BYTES,
  });
  const pages: RunEvent[][] = cursors.map(() => []);
  for (const row of rows) pages[row.place - 1]?.push(toEvent(row));
  // The page that used up the bytes, and all later pages, may be incomplete.
  const firstCut = bytesOf(rows) >= BATCH_BYTES ? (rows.at(-1)?.place ?? 1) - 1 : cursors.length;
  return pages.map((events, index) => ({
    events,
    hasMore: events.length >= limitPerRun || index >= firstCut,
  }));
}

/** The bytes of the users' JSON in these rows. */
function bytesOf(rows: readonly { readonly value: string | null }[]): number {
  let bytes = 0;
  for (const row of rows) if (row.value !== null) bytes += Buffer.byteLength(row.value);
  return bytes;
}

/** The part of a log that a fold reads. */
interface LogRange extends LogCursor {
  /** The last seq of the run's row. */
  readonly lastSeq: number;
}

/** The folded events of each range, by run. @throws STORE_UNAVAILABLE */
export async function loadEvents(
  db: Queryable,
  ranges: readonly LogRange[],
): Promise<ReadonlyMap<RunId, readonly RunEvent[]>> {
  const rows = await run(db, load, valuesOf(load, ranges));
  return Map.groupBy(rows.map(toEvent), (event) => event.runId);
}

/** How many events each range has, by run. The event at the cursor and stream deltas count. @throws STORE_UNAVAILABLE */
export async function countEvents(
  db: Queryable,
  ranges: readonly LogRange[],
): Promise<ReadonlyMap<RunId, number>> {
  const asked = ranges.map((range) => ({ ...range, fromSeq: Math.max(range.afterSeq, 1) }));
  const rows = await run(db, count, valuesOf(count, asked));
  return new Map(rows.map(({ runId, eventCount }) => [runId, eventCount]));
}

/** How a run began. Undefined if there is no such run. @throws STORE_UNAVAILABLE */
export async function readOrigin(db: Queryable, runId: RunId): Promise<RunOrigin | undefined> {
  const row = await first(db, origin, { runId });
  if (row === undefined) return undefined;
  return { ...row, input: row.input ?? "null", metadata: row.metadata ?? undefined };
}

/** Up to `limit` tags after a cursor. `nodeId` "" means all nodes. Core derives tags from events. @throws STORE_UNAVAILABLE */
export async function readTags(
  db: Queryable,
  runId: RunId,
  asked: { readonly afterSeq: number; readonly limit: number; readonly nodeId: string },
): Promise<TagPage> {
  const types = { types: TAGGED_TYPES, typesWithValue: TAGGED_BY_VALUE };
  const rows = await run(db, tagged, { ...asked, ...types, runId, limit: asked.limit + 1 });
  const tags = rows.slice(0, asked.limit).flatMap((row): TagRecord[] => {
    const event = toEvent(row);
    const made = tagOf(event);
    if (made === undefined) return [];
    const { nodeId, iteration, seq, at } = event;
    const metadata = JSON.stringify(made.metadata);
    return [{ runId, nodeId, iteration, seq, tag: made.tag, metadata, at }];
  });
  return { tags, hasMore: rows.length > asked.limit };
}
