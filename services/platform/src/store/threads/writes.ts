// Writes threads: the moves of a tick in its transaction, and the edits of users.

import type { RunId } from "@pawl/core/name/ids";
import { flag, lists, number, orNull, text, uuid } from "../../db/columns.ts";
import { isOvertaken } from "../../db/failure.ts";
import type { Pool } from "../../db/pool.ts";
import { first, queriesBeside, run, type Send, valuesOf } from "../../db/query.ts";
import type { Removal } from "../runs/runs.ts";
import { deleteRuns } from "../runs/writes.ts";
import { getThread, getThreadState } from "./reads.ts";
import {
  NEW_THREAD,
  THREAD,
  THREAD_CHANGE,
  THREAD_KEY,
  THREAD_RUN,
  type ThreadKey,
  type ThreadMoves,
  type Threads,
  type ThreadValues,
  withTurns,
} from "./threads.ts";

const declare = queriesBeside(import.meta.url);

const move = declare("move", lists(THREAD_CHANGE), { held: flag() });
const VALUE = { ...THREAD_KEY, sha256: text() };
const forgetValues = declare("forget_values", lists(THREAD_KEY));
const nameValues = declare("name_values", lists(VALUE));
const TURN = { turn: orNull(number()) };
const leave = declare("leave", lists({ runId: uuid(), ...TURN }));
const take = declare("take", lists({ ...THREAD_RUN, ...TURN }));
const insert = declare("insert", NEW_THREAD, THREAD);
const EDIT = { metadata: orNull(text()), assistantId: orNull(text()) };
const update = declare("update", { ...THREAD_KEY, ...EDIT }, THREAD);
const liveRuns = declare("live_runs", THREAD_KEY, { runId: uuid<RunId>() });
const lock = declare("lock", THREAD_KEY, { threadId: text() });
const mark = declare("mark", THREAD_KEY, { notified: text() });
const someRuns = declare("some_runs", { ...THREAD_KEY, limit: number() }, { runId: uuid<RunId>() });
const remove = declare("remove", THREAD_KEY);
const marked = declare("marked", THREAD_KEY, { isMarked: flag() });
const closed = declare("closed", { limit: number() }, THREAD_KEY);

/** Runs of one step of a removal, and closed threads of one sweep. */
const REMOVED_MAX = 500;
const CLOSED_MAX = 500;

/** Changes threads and the order of their runs. The runs exist by now. */
export async function moveThreads(send: Send, moves: ThreadMoves): Promise<void> {
  const { threads, values } = moves;
  const runs = withTurns(moves);
  const leaving = runs.filter(({ state, isNew }) => state === "over" && !isNew);
  const taking = runs.filter(({ state, isNew }) => state !== "over" || isNew);
  const sent: Promise<unknown>[] = [send(move, valuesOf(move, threads))];
  if (values.length > 0) sent.push(send(forgetValues, valuesOf(forgetValues, values)));
  const named = values.flatMap(namesOf);
  if (named.length > 0) sent.push(send(nameValues, valuesOf(nameValues, named)));
  if (leaving.length > 0) sent.push(send(leave, valuesOf(leave, leaving)));
  if (taking.length > 0) sent.push(send(take, valuesOf(take, taking)));
  await Promise.all(sent);
}

const namesOf = ({ tenantId, threadId, sha256s }: ThreadValues) =>
  sha256s.map((sha256) => ({ tenantId, threadId, sha256 }));

/** Threads over a pool. */
export function createThreads(db: Pool): Threads {
  return {
    create: async ({ sha256s, ...thread }) => {
      const named = namesOf({ ...thread, sha256s });
      const made = await db.transaction(async (tx) => {
        const row = await first(tx, insert, thread);
        if (row !== undefined && named.length > 0)
          await run(tx, nameValues, valuesOf(nameValues, named));
        return row;
      });
      if (made !== undefined) return { thread: made, isNew: true };
      const found = await getThread(db, thread);
      return found && { thread: found, isNew: false };
    },
    find: ({ tenantId, threadId }) => getThread(db, { tenantId, threadId }),
    update: ({ tenantId, threadId }, { metadata, assistantId }) =>
      first(db, update, { tenantId, threadId, metadata, assistantId }),
    stateOf: (key) => getThreadState(db, key),
    liveRuns: async (key) => (await run(db, liveRuns, key)).map(({ runId }) => runId),
    close: (key) =>
      db.transaction(async (tx) => {
        if ((await first(tx, lock, key)) === undefined) return "missing";
        if ((await run(tx, liveRuns, key)).length > 0) return "busy";
        await run(tx, mark, key);
        return "closed";
      }, isOvertaken),
    removeSome: (key) => removeSome(db, key),
    closed: () => run(db, closed, { limit: CLOSED_MAX }),
  };
}

async function removeSome(db: Pool, { tenantId, threadId }: ThreadKey): Promise<Removal> {
  const key = { tenantId, threadId };
  const found = await run(db, someRuns, { ...key, limit: REMOVED_MAX });
  const runIds = found.map(({ runId }) => runId);
  const gone = runIds.length === 0 ? 0 : await deleteRuns(db, runIds);
  await run(db, remove, key);
  if ((await first(db, marked, key))?.isMarked !== true) return "removed";
  return gone > 0 ? "more" : "waits";
}
