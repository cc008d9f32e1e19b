// Lists archived runs. A page reads the head of each file that it looks at, and looks at a bounded number of files. So with a filter that
// finds little, a page may be short or empty, and its token continues behind the last file that it looked at.

import { createHash } from "node:crypto";
import { type RunHead, readRunHead } from "@pawl/platform/archive/lines";
import { type ArchiveReads, runIdOfName } from "@pawl/platform/archive/store";
import { invalidField } from "@pawl/core/fault/engine-error";

/** Files that one page looks at, and how many of them at the same time. */
const LOOKED_MAX = 500;
const AT_ONCE = 16;

interface AskedList {
  readonly month: string;
  /** The filter in one form. */
  readonly text: string;
  readonly finds: (head: RunHead) => boolean;
}

interface ArchivedPage {
  readonly rows: readonly RunHead[];
  readonly nextPageToken: string;
}

/** A page of archived runs, oldest first. @throws INPUT_INVALID for a token of another list, ARCHIVE_INVALID */
export async function listArchived(
  archive: ArchiveReads,
  asked: AskedList,
  { size, token }: { readonly size: number; readonly token: string },
): Promise<ArchivedPage> {
  const list = digestOf(asked);
  let after = token === "" ? "" : placeOf(token, list);
  const rows: RunHead[] = [];
  const prefix = asked.month === "" ? "" : `${asked.month}/`;
  for (let looked = 0; looked < LOOKED_MAX;) {
    const limit = Math.min(AT_ONCE, LOOKED_MAX - looked);
    const names = await archive.list({ prefix, after, limit });
    const heads = await Promise.all(names.map((name) => headOf(archive, name)));
    for (const [at, name] of names.entries()) {
      after = name;
      const head = heads[at];
      if (head === undefined || !asked.finds(head)) continue;
      rows.push(head);
      if (rows.length === size) return { rows, nextPageToken: `${list}${after}` };
    }
    looked += names.length;
    if (names.length < limit) return { rows, nextPageToken: "" };
  }
  return { rows, nextPageToken: `${list}${after}` };
}

const headOf = async (archive: ArchiveReads, name: string): Promise<RunHead | undefined> => {
  const runId = runIdOfName(name);
  return runId === undefined ? undefined : await readRunHead(archive, runId);
};

const DIGEST_LENGTH = 16;

const digestOf = ({ month, text }: AskedList): string =>
  createHash("sha256").update(`${month} ${text}`).digest("hex").slice(0, DIGEST_LENGTH);

function placeOf(token: string, list: string): string {
  if (token.startsWith(list)) return token.slice(DIGEST_LENGTH);
  throw invalidField("page_token", "BAD_PAGE_TOKEN", "is not a token of this list and filter");
}
