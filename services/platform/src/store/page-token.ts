// Page tokens: where the last page ended, bound to the filter it was made with. A token of another list or another filter is refused
// instead of giving a page that looks right. Anybody can make one: the gateway seals those it hands out (gateway/src/read/page-seal.ts).

import { createHash } from "node:crypto";
import { invalidField } from "@pawl/core/fault/engine-error";

const DIGEST_BYTES = 8;
const TOKEN_LENGTH_MAX = 512;

const digest = (filter: string): Buffer =>
  createHash("sha256").update(filter).digest().subarray(0, DIGEST_BYTES);

/** The token for the page after `key`. */
export const toPageToken = (key: string, filter: string): string =>
  Buffer.concat([digest(filter), Buffer.from(key, "utf8")]).toString("base64url");

/** The key inside a token. @throws INPUT_INVALID when the token was not made by `toPageToken` for this filter. */
export function fromPageToken(token: string, filter: string): string {
  const bytes = Buffer.from(token.slice(0, TOKEN_LENGTH_MAX), "base64url");
  const isOurs =
    bytes.toString("base64url") === token && bytes.subarray(0, DIGEST_BYTES).equals(digest(filter));
  if (!isOurs) {
    throw invalidField("page_token", "BAD_PAGE_TOKEN", "is not a token of this list and filter");
  }
  return bytes.subarray(DIGEST_BYTES).toString("utf8");
}
