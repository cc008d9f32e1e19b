// Short ids: a person may type an id as a table shows it. A whole id is sent unchanged. A piece must fit exactly one id. The server
// searches runs by the beginning and the last eight digits of their ids. Approvals are searched among the newest.

import { type Session, UsageError } from "./session.ts";

const WHOLE = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const PIECE = /^[0-9a-f-]{4,35}$/i;
/** The number of last digits of a run id that the server searches for. */
const END_DIGITS = 8;
const PAGE_SIZE = 200;
const PAGES_MAX = 5;
const NAMED_MAX = 5;

interface Page {
  readonly ids: readonly string[];
  readonly nextPageToken: string;
}

interface Place {
  readonly noun: string;
  /** The queries to the server, one after the other. "" means all. */
  readonly queries: readonly string[];
  readonly list: (query: string, pageToken: string) => Promise<Page>;
  /** Advice for a piece that fits no id. */
  readonly advice?: string;
}

const digitsOf = (text: string): string => text.toLowerCase().replaceAll("-", "");

/** The whole id of a run. @throws UsageError when the piece fits none or several */
export function wholeRunId(session: Session, text: string): Promise<string> {
  const { client, interrupted: signal } = session;
  const digits = digitsOf(text);
  return wholeId(text, {
    noun: "run",
    queries: digits.length > END_DIGITS ? [text, digits.slice(-END_DIGITS)] : [text],
    list: async (query, pageToken) => {
      const page = await client.runs.list({ query, pageSize: PAGE_SIZE, pageToken, signal });
      return { ids: page.runs.map(({ runId }) => runId), nextPageToken: page.nextPageToken };
    },
    ...(digits.length < END_DIGITS && { advice: `Of its end give the last ${END_DIGITS} digits.` }),
  });
}

/** The whole id of an approval. @throws UsageError when the piece fits none or several */
export function wholeApprovalId(session: Session, text: string): Promise<string> {
  const { client, interrupted: signal } = session;
  return wholeId(text, {
    noun: "approval",
    queries: [""],
    list: async (_, pageToken) => {
      const page = await client.approvals.list({ pageSize: PAGE_SIZE, pageToken, signal });
      const ids = page.approvals.map(({ approvalId }) => approvalId);
      return { ids, nextPageToken: page.nextPageToken };
    },
  });
}

async function wholeId(text: string, place: Place): Promise<string> {
  if (WHOLE.test(text) || !PIECE.test(text)) return text;
  const { noun, queries, advice } = place;
  const { found, isAll } = await find(digitsOf(text), queries, place.list);
  const [only, ...others] = found;
  if (only === undefined) {
    const range = isAll ? "" : ` among the newest ${PAGE_SIZE * PAGES_MAX}`;
    const none = `no ${noun}${range} has an id that begins or ends with ${text}`;
    throw new UsageError(advice === undefined ? none : `${none}. ${advice}`);
  }
  if (others.length === 0) return only;
  const count = found.length > NAMED_MAX ? `more than ${NAMED_MAX}` : found.length;
  const named = found.slice(0, NAMED_MAX).map((id) => `  ${id}`);
  throw new UsageError(
    [`${text} fits ${count} ${noun}s; write more of the id:`, ...named].join("\n"),
  );
}

/** Ids that begin or end with the digits, up to one more than are named. A search also finds runs by the name of their workflow. */
async function find(
  digits: string,
  queries: readonly string[],
  list: Place["list"],
): Promise<{ readonly found: readonly string[]; readonly isAll: boolean }> {
  const found = new Set<string>();
  let isAll = true;
  for (const query of queries) {
    let pageToken = "";
    for (let page = 0; page < PAGES_MAX && found.size <= NAMED_MAX; page++) {
      const { ids, nextPageToken } = await list(query, pageToken);
      for (const id of ids)
        if (digitsOf(id).startsWith(digits) || digitsOf(id).endsWith(digits)) found.add(id);
      pageToken = nextPageToken;
      if (pageToken === "") break;
    }
    isAll &&= pageToken === "";
  }
  return { found: [...found], isAll };
}
