// Reads the record of a run as lines of JSON.

import type { RunId } from "@pawl/core/name/ids";
import { number, text, uuid } from "../../db/columns.ts";
import { first, queriesBeside, type Queryable, run } from "../../db/query.ts";
import { ARCHIVE_HEAD, type ArchiveHead, NAMED_VALUE, type NamedValue } from "./archive.ts";

const declare = queriesBeside(import.meta.url);

const RUN = { runId: uuid<RunId>() };
const LINE = { line: text() };
const head = declare("head", { ...RUN, tenantId: text() }, ARCHIVE_HEAD);
const before = declare("before_values", RUN, LINE);
const values = declare("named_values", RUN, NAMED_VALUE);
const between = declare("before_events", RUN, LINE);
const events = declare(
  "events",
  { ...RUN, afterSeq: number(), lastSeq: number(), limit: number(), bytesMax: number() },
  { ...LINE, seq: number() },
);

/** Events of one page, and about how many bytes it has. */
const PAGE = { limit: 2_000, bytesMax: 1024 * 1024 };

/** The line of a run. Undefined if there is none. @throws STORE_UNAVAILABLE */
export const readHead = (
  db: Queryable,
  key: { readonly tenantId: string; readonly runId: RunId },
): Promise<ArchiveHead | undefined> => first(db, head, key);

/** The lines between the run and its stored values. @throws STORE_UNAVAILABLE */
export const readBeforeValues = async (db: Queryable, runId: RunId): Promise<readonly string[]> =>
  (await run(db, before, { runId })).map(({ line }) => line);

/** The stored values that events of the run name. @throws STORE_UNAVAILABLE */
export const readNamedValues = (db: Queryable, runId: RunId): Promise<readonly NamedValue[]> =>
  run(db, values, { runId });

/** The lines between the stored values and the events. @throws STORE_UNAVAILABLE */
export const readBeforeEvents = async (db: Queryable, runId: RunId): Promise<readonly string[]> =>
  (await run(db, between, { runId })).map(({ line }) => line);

/** The events of a run up to a seq, in pages. It ends early if the log does. @throws STORE_UNAVAILABLE */
export async function* readEventLines(
  db: Queryable,
  { runId, lastSeq }: { readonly runId: RunId; readonly lastSeq: number },
): AsyncGenerator<readonly { readonly seq: number; readonly line: string }[]> {
  let afterSeq = 0;
  while (afterSeq < lastSeq) {
    const page = await run(db, events, { runId, afterSeq, lastSeq, ...PAGE });
    const last = page.at(-1);
    if (last === undefined) return;
    afterSeq = last.seq;
    yield page;
  }
}
