// The read side of tags: pages of the view execution_tags after a cursor.

import type { RunId } from "@pawl/core/name/ids";
import { type Queryable, run } from "../db/sql.ts";
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

interface TagRow {
  readonly run_id: RunId;
  readonly node_id: string;
  readonly iteration: number;
  readonly seq: number;
  readonly tag: string;
  readonly metadata: string;
  readonly at: Date;
}

/** Up to `limit` tags after a cursor; `nodeId` "" means of all nodes. @throws STORE_UNAVAILABLE */
export async function readTags(
  db: Queryable,
  runId: RunId,
  page: { readonly afterSeq: number; readonly limit: number; readonly nodeId: string },
): Promise<TagPage> {
  const rows = await run<TagRow>(db, readTagsStatement, [
    runId,
    page.afterSeq,
    page.limit + 1,
    page.nodeId,
  ]);
  const tags = rows.slice(0, page.limit).map(({ run_id, node_id, at, ...row }) => ({
    ...row,
    runId: run_id,
    nodeId: node_id,
    at: at.getTime(),
  }));
  return { tags, hasMore: rows.length > page.limit };
}
