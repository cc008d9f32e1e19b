// The tags of a run, page by page. The store keeps none: they are a reading of the events by the event table of core.

import { tagOf, TAGGED_BY_VALUE, TAGGED_TYPES } from "@pawl/core/log/tags";
import type { RunId } from "@pawl/core/name/ids";
import { type Queryable, run } from "../db/sql.ts";
import { type EventRow, toEvent } from "./event-row.ts";
import { readTags as readTagsStatement } from "./statements/read-tags.ts";

export interface TagRecord {
  readonly runId: RunId;
  readonly nodeId: string;
  readonly iteration: number;
  readonly seq: number;
  readonly tag: string;
  /** A JSON object as text. */
  readonly metadata: string;
  readonly at: number;
}

export interface TagPage {
  readonly tags: readonly TagRecord[];
  readonly hasMore: boolean;
}

/** Up to `limit` tags after a cursor; `nodeId` "" means of all nodes. @throws STORE_UNAVAILABLE */
export async function readTags(
  db: Queryable,
  runId: RunId,
  page: { readonly afterSeq: number; readonly limit: number; readonly nodeId: string },
): Promise<TagPage> {
  const rows = await run<EventRow>(db, readTagsStatement, [
    runId,
    page.afterSeq,
    page.limit + 1,
    page.nodeId,
    TAGGED_TYPES,
    TAGGED_BY_VALUE,
  ]);
  const tags = rows.slice(0, page.limit).flatMap((row): TagRecord[] => {
    const event = toEvent(row);
    const made = tagOf(event);
    if (made === undefined) return [];
    const { nodeId, iteration, seq, at } = event;
    const metadata = JSON.stringify(made.metadata);
    return [{ runId, nodeId, iteration, seq, tag: made.tag, metadata, at }];
  });
  return { tags, hasMore: rows.length > page.limit };
}
