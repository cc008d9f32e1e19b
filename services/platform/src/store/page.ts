// Pages of lists. A page token holds the place where the last page ended, and a digest of the list and its filter. So the store refuses a
// token of another list. Any client could make a token, so the gateway seals the tokens that it sends (gateway/src/read/page-seal.ts).

import { createHash } from "node:crypto";
import { invalidField } from "@pawl/core/fault/engine-error";
import { isUuid } from "@pawl/core/name/ids";

const DIGEST_BYTES = 8;
const TOKEN_LENGTH_MAX = 512;

export interface PageRequest {
  readonly size: number;
  /** Empty for the first page. */
  readonly token: string;
}

export interface Page<Row> {
  readonly rows: readonly Row[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
}

/** A list that is read in pages. */
interface PageSource<Row> {
  /** The list and its filter. A token is valid for both only. */
  readonly filter: string;
  /** The place of a row in the list. */
  readonly keyOf: (row: Row) => string;
  /** Up to `limit` rows behind a place in the list. */
  readonly read: (after: string, limit: number) => Promise<readonly Row[]>;
  /** The place before the first row. Empty by default. */
  readonly begin?: string;
  /** Whether a place can be one of this list. By default every place can. */
  readonly isPlace?: (place: string) => boolean;
  /** The first rows that fit into an answer. By default all of them. */
  readonly fitting?: (rows: readonly Row[]) => readonly Row[];
}

/** The places of a list in falling order of UUIDs, which begin with their time. */
export const NEWEST_FIRST = { begin: "ffffffff-ffff-ffff-ffff-ffffffffffff", isPlace: isUuid };

/** A page of a list. @throws INPUT_INVALID for a token of another list or filter */
export async function readPage<Row>(
  { size, token }: PageRequest,
  source: PageSource<Row>,
): Promise<Page<Row>> {
  const { filter, keyOf, read, begin = "", isPlace, fitting = (rows) => rows } = source;
  const after = token === "" ? begin : fromPageToken(token, filter);
  if (isPlace?.(after) === false)
    throw invalidField("page_token", "BAD_PAGE_TOKEN", "is not a token");
  // One row more than requested shows whether there are more.
  const found = await read(after, size + 1);
  const rows = fitting(found.slice(0, size));
  const last = rows.at(-1);
  const hasMore = found.length > rows.length && last !== undefined;
  return { rows, nextPageToken: hasMore ? toPageToken(keyOf(last), filter) : "" };
}

const digest = (filter: string): Buffer =>
  createHash("sha256").update(filter).digest().subarray(0, DIGEST_BYTES);

/** The token for the page after `key`. */
const toPageToken = (key: string, filter: string): string =>
  Buffer.concat([digest(filter), Buffer.from(key, "utf8")]).toString("base64url");

/** The key inside a token. @throws INPUT_INVALID if `toPageToken` did not make the token for this filter */
function fromPageToken(token: string, filter: string): string {
  const bytes = Buffer.from(token.slice(0, TOKEN_LENGTH_MAX), "base64url");
  const isOurs =
    bytes.toString("base64url") === token && bytes.subarray(0, DIGEST_BYTES).equals(digest(filter));
  if (!isOurs) {
    throw invalidField("page_token", "BAD_PAGE_TOKEN", "is not a token of this list and filter");
  }
  return bytes.subarray(DIGEST_BYTES).toString("utf8");
}
