// Reads threads.

import type { ThreadWait } from "@pawl/core/explain/room";
import type { RunId } from "@pawl/core/name/ids";
import { flag, list, lists, number, orNull, orNulls, text, time, uuid } from "../../db/columns.ts";
import { columns, first, queriesBeside, type Queryable, run, valuesOf } from "../../db/query.ts";
import { type PageRequest, readPage } from "../page.ts";
import {
  LOADED_THREAD,
  type LoadedThread,
  THREAD,
  THREAD_KEY,
  THREAD_PLACE,
  THREAD_STATE,
  type ThreadFilter,
  type ThreadKey,
  type ThreadNews,
  type ThreadPage,
  type ThreadPlace,
  type ThreadRecord,
  type ThreadState,
  WAITING_RUN,
} from "./threads.ts";

const declare = queriesBeside(import.meta.url);

const PAGE = { tenantId: text(), after: text(), limit: number(), statuses: list(text()) };
const one = declare("one", THREAD_KEY, THREAD);
const state = declare("state", THREAD_KEY, THREAD_STATE);
const page = declare("page", PAGE, THREAD);
const pageByMetadata = declare("page_by_metadata", { ...PAGE, metadata: text() }, THREAD);
const load = declare("load", lists(THREAD_KEY), LOADED_THREAD);
const wait = declare(
  "wait",
  { runId: uuid() },
  { threadId: text(), holderRunId: orNull(uuid<RunId>()), aheadCount: number() },
);
const behind = declare("behind", { runIds: list(uuid()) }, { runId: uuid<RunId>() });
const TURN = { runId: uuid<RunId>(), turn: number(), position: number() };
const turns = declare(
  "turns",
  { ...lists(THREAD_PLACE), limit: number() },
  { place: number(), createdAt: time(), isIdle: flag(), ...orNulls(TURN) },
);
const present = declare("present", THREAD_KEY, { turn: number(), position: number() });
const waiting = declare("waiting", lists(THREAD_KEY), { ...THREAD_KEY, ...WAITING_RUN });

/** The thread that a run waits for. Undefined if it waits for none. @throws STORE_UNAVAILABLE */
export const readThreadWait = (db: Queryable, runId: RunId): Promise<ThreadWait | undefined> =>
  first(db, wait, { runId });

/** The runs among these that do not wait behind another run of their thread. @throws STORE_UNAVAILABLE */
export async function withoutThreadWait<Holder extends { readonly runId: RunId }>(
  db: Queryable,
  holders: readonly Holder[],
): Promise<Holder[]> {
  if (holders.length === 0) return [];
  const rows = await run(db, behind, { runIds: [...new Set(holders.map(({ runId }) => runId))] });
  const waits = new Set(rows.map(({ runId }) => runId));
  return holders.filter(({ runId }) => !waits.has(runId));
}

/** One thread, or undefined. @throws STORE_UNAVAILABLE */
export const getThread = (db: Queryable, key: ThreadKey): Promise<ThreadRecord | undefined> =>
  first(db, one, key);

/** The state of a thread. Undefined if there is no thread. @throws STORE_UNAVAILABLE */
export const getThreadState = (db: Queryable, key: ThreadKey): Promise<ThreadState | undefined> =>
  first(db, state, key);

/**
 * Up to `limit` turns after each place, in one statement, in the order of the places. Undefined for a thread that does not exist. @throws
 * STORE_UNAVAILABLE
 */
export async function readTurns(
  db: Queryable,
  places: readonly ThreadPlace[],
  limit: number,
): Promise<(ThreadNews | undefined)[]> {
  const asked = columns(places, ["tenantId", "threadId", "turn", "position"]);
  const rows = Map.groupBy(await run(db, turns, { ...asked, limit }), ({ place }) => place);
  return places.map((_, index) => {
    const own = rows.get(index + 1);
    const [head] = own ?? [];
    if (own === undefined || head === undefined) return undefined;
    const { createdAt, isIdle } = head;
    const found = own.flatMap(({ runId, turn, position }) =>
      runId === null || turn === null || position === null ? [] : [{ runId, turn, position }],
    );
    return { createdAt, isIdle, turns: found };
  });
}

/** The place before the run that holds a thread, or after its last run. Undefined if there is no thread. @throws STORE_UNAVAILABLE */
export const readPresent = (
  db: Queryable,
  key: ThreadKey,
): Promise<Pick<ThreadPlace, "turn" | "position"> | undefined> => first(db, present, key);

/** Threads in order of id. @throws INPUT_INVALID for a token of another list, STORE_UNAVAILABLE */
export async function listThreads(
  db: Queryable,
  tenantId: string,
  { metadata, statuses }: ThreadFilter,
  asked: PageRequest,
): Promise<ThreadPage> {
  return await readPage(asked, {
    filter: `threads ${JSON.stringify([tenantId, metadata, [...statuses].toSorted()])}`,
    keyOf: (row) => row.threadId,
    read: (after, limit) => {
      const values = { tenantId, after, limit, statuses };
      return metadata === ""
        ? run(db, page, values)
        : run(db, pageByMetadata, { ...values, metadata });
    },
  });
}

/** Threads with the runs that wait for them. Threads that do not exist are left out. @throws STORE_UNAVAILABLE */
export async function loadThreads(
  db: Queryable,
  keys: readonly ThreadKey[],
): Promise<LoadedThread[]> {
  if (keys.length === 0) return [];
  const rows = await run(db, load, valuesOf(load, keys));
  const lined = await run(db, waiting, valuesOf(waiting, keys));
  return rows.map((row) => ({
    ...row,
    waiting: lined.flatMap(({ tenantId, threadId, ...each }) =>
      tenantId === row.tenantId && threadId === row.threadId ? [each] : [],
    ),
  }));
}
