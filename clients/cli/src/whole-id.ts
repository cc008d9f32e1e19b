// Short ids: what a table shows on a terminal can be typed back. An id that is whole goes to the server as it is; a piece of one is
// looked for among the newest, by its end or its beginning, and must fit exactly one.

import type { Session } from "./session.ts";
import { UsageError } from "./usage-error.ts";

const WHOLE = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const PIECE = /^[0-9a-f-]{4,35}$/i;
const PAGE_SIZE = 200;
const PAGES_MAX = 5;
const NAMED_MAX = 5;

interface Page {
  readonly ids: readonly string[];
  readonly nextPageToken: string;
}

type List = (pageToken: string) => Promise<Page>;

/** The whole id of a run. @throws UsageError when the piece fits none or several */
export const wholeRunId = (session: Session, text: string): Promise<string> =>
  wholeId("run", text, async (pageToken) => {
    const { client, interrupted: signal } = session;
    const page = await client.runs.list({ pageSize: PAGE_SIZE, pageToken, signal });
    return { ids: page.runs.map(({ runId }) => runId), nextPageToken: page.nextPageToken };
  });

/** The whole id of an approval. @throws UsageError when the piece fits none or several */
export const wholeApprovalId = (session: Session, text: string): Promise<string> =>
  wholeId("approval", text, async (pageToken) => {
    const { client, interrupted: signal } = session;
    const page = await client.approvals.list({ pageSize: PAGE_SIZE, pageToken, signal });
    const ids = page.approvals.map(({ approvalId }) => approvalId);
    return { ids, nextPageToken: page.nextPageToken };
  });

async function wholeId(noun: string, text: string, list: List): Promise<string> {
  if (WHOLE.test(text) || !PIECE.test(text)) return text;
  const piece = text.toLowerCase();
  const found: string[] = [];
  let pageToken = "";
  for (let page = 0; page < PAGES_MAX; page++) {
    const { ids, nextPageToken } = await list(pageToken);
    found.push(...ids.filter((id) => id.endsWith(piece) || id.startsWith(piece)));
    pageToken = nextPageToken;
    if (pageToken === "") break;
  }
  const [only, ...others] = found;
  if (only === undefined) {
    const range = pageToken === "" ? "" : ` among the newest ${PAGE_SIZE * PAGES_MAX}`;
    throw new UsageError(`no ${noun}${range} has an id that begins or ends with ${text}`);
  }
  if (others.length === 0) return only;
  const named = found.slice(0, NAMED_MAX).map((id) => `  ${id}`);
  throw new UsageError(
    [`${text} fits ${found.length} ${noun}s; write more of the id:`, ...named].join("\n"),
  );
}
