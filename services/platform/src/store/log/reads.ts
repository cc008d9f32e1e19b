// Reads the log: pages of events after a cursor. The events of a page are contiguous from the cursor.

import type { RunEvent } from "@pawl/core/log/event";
import { tagOf, TAGGED_BY_VALUE, TAGGED_TYPES } from "@pawl/core/log/tags";
import type { RunId } from "@pawl/core/name/ids";
import { json, list, number, orNull, text, time, uuid } from "../../db/columns.ts";
import { toEvent } from "../../db/event-row.ts";
import { columns, queriesBeside, run } from "../../db/query.ts";
import type { Queryable } from "../../db/sql.ts";
import type { EventPage, LogCursor, TagPage, TagRecord } from "./log.ts";

/** How many bytes of the users' JSON one read brings into memory; one event more may come on top. */
export const PAGE_BYTES = 2 * 1024 * 1024;
const BATCH_BYTES = 8 * 1024 * 1024;

const declare = queriesBeside(import.meta.url);

const EVENT = {
  run_id: uuid<RunId>(),
  seq: number(),
  type: text(),
  node_id: text(),
  iteration: number(),
  attempt: number(),
  epoch: number(),
  payload: json(),
  value: orNull(text()),
};
const page = declare(
  "page",
  { runId: uuid(), afterSeq: number(), limit: number(), bytesMax: number() },
  { ...EVENT, at: time() },
);
const pagesOfMany = declare(
  "pages_of_many",
  { runId: list(uuid()), afterSeq: list(number()), limit: number(), bytesMax: number() },
  { ...EVENT, at: time(), place: number() },
);
const load = declare(
  "load",
  { runId: list(uuid()), afterSeq: list(number()), lastSeq: list(number()) },
  { ...EVENT, at: number() },
);
const count = declare(
  "count",
  { runId: list(uuid()), fromSeq: list(number()), lastSeq: list(number()) },
  { run_id: uuid<RunId>(), event_count: number() },
);
const input = declare("input", { runId: uuid() }, { input: orNull(text()) });
const tagged = declare(
  "tagged",
  {
    runId: uuid(),
    afterSeq: number(),
    limit: number(),
    nodeId: text(),
    types: list(text()),
    typesWithValue: list(text()),
  },
  { ...EVENT, at: time() },
);

/** Up to `limit` events of one run after a cursor. A run that does not exist has none. @throws STORE_UNAVAILABLE */
export async function readEvents(
  db: Queryable,
  runId: RunId,
  afterSeq: number,
  limit: number,
): Promise<EventPage> {
  // One row more than asked for says whether there are more.
  const values = { runId, afterSeq, limit: limit + 1, bytesMax: PAGE_BYTES };
  const rows = await run(db, page, values);
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
  const rows = await run(db, pagesOfMany, {
    ...columns(cursors, ["runId", "afterSeq"]),
    limit: limitPerRun,
    bytesMax: BATCH_BYTES,
  });
  const pages: RunEvent[][] = cursors.map(() => []);
  for (const row of rows) pages[row.place - 1]?.push(toEvent(row));
  // Once the bytes are spent, the page that spent them and all after it may be cut short.
  const firstCut = bytesOf(rows) >= BATCH_BYTES ? (rows.at(-1)?.place ?? 1) - 1 : cursors.length;
  return pages.map((events, index) => ({
    events,
    hasMore: events.length >= limitPerRun || index >= firstCut,
  }));
}

/** A lower bound of what the database counted: characters are at most as many as their bytes. */
function bytesOf(rows: readonly { readonly value: string | null }[]): number {
  let bytes = 0;
  for (const row of rows) if (row.value !== null) bytes += Buffer.byteLength(row.value);
  return bytes;
}

/** The part of a log that is read for a fold. */
export interface LogRange extends LogCursor {
  /** The last seq that the run's row had. */
  readonly lastSeq: number;
}

/** The folded events of each range, by run. @throws STORE_UNAVAILABLE */
export async function loadEvents(
  db: Queryable,
  ranges: readonly LogRange[],
): Promise<ReadonlyMap<RunId, readonly RunEvent[]>> {
  const rows = await run(db, load, columns(ranges, ["runId", "afterSeq", "lastSeq"]));
  return Map.groupBy(rows.map(toEvent), (event) => event.runId);
}

/** How many events each range has with the cursor's own, partial output too, by run. @throws STORE_UNAVAILABLE */
export async function countEvents(
  db: Queryable,
  ranges: readonly LogRange[],
): Promise<ReadonlyMap<RunId, number>> {
  const rows = await run(db, count, {
    ...columns(ranges, ["runId", "lastSeq"]),
    fromSeq: ranges.map(({ afterSeq }) => Math.max(afterSeq, 1)),
  });
  return new Map(rows.map((row) => [row.run_id, row.event_count]));
}

/** The input of a run as JSON text; undefined when there is no such run. @throws STORE_UNAVAILABLE */
export async function readRunInput(db: Queryable, runId: RunId): Promise<string | undefined> {
  const [row] = await run(db, input, { runId });
  return row === undefined ? undefined : (row.input ?? "null");
}

/**
 * Up to `limit` tags after a cursor; `nodeId` "" means of all nodes. The store keeps no tags: they are a reading of the events by the
 * event table of core. @throws STORE_UNAVAILABLE
 */
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
