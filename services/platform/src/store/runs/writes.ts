// Writes about runs that are not part of the tick's own statements (store/tick).

import type { RunId } from "@pawl/core/name/ids";
import { flag, list, lists, number, text, uuid } from "../../db/columns.ts";
import { queriesBeside, type Queryable, run, type Send, valuesOf } from "../../db/query.ts";
import { removeLogs } from "../retention/writes.ts";
import {
  DEADLINE,
  INPUT_KEY,
  type InputKey,
  type DueFilter,
  type DueRun,
  type KeptMetadata,
  METADATA,
  type MovedDeadline,
  type NewRepair,
  REPAIR,
  STOP,
  type StoppedRun,
  TEST_GRAPH,
  type TestGraph,
} from "./runs.ts";

const declare = queriesBeside(import.meta.url);

const deadlines = declare("move_deadlines", lists(DEADLINE));
const markAll = declare("mark_stops", lists(STOP));
const insertTestGraph = declare("insert_test_graph", TEST_GRAPH);
const dropKeys = declare("drop_input_keys", {});
const freeKeys = declare("free_input_keys", lists({ tenantId: text(), inputKey: text() }));
const linkAll = declare("link_repairs", lists(REPAIR));
const keepAllMetadata = declare("keep_metadata", lists(METADATA));
const keepKeys = declare("keep_input_keys", lists(INPUT_KEY));
const deleteAll = declare(
  "delete_unkept",
  { runIds: list(uuid()) },
  { runId: uuid<RunId>(), isRoot: flag() },
);
const due = declare(
  "due_temporary",
  { graceMs: number(), withinMs: number(), limit: number() },
  { runId: uuid<RunId>(), dueInMs: number() },
);
const deleteFinished = declare(
  "delete_runs",
  { runIds: list(uuid()), events: number() },
  { runId: uuid<RunId>() },
);
const endedBelow = declare(
  "ended_below",
  { runIds: list(uuid()), limit: number() },
  { runId: uuid<RunId>() },
);
const remove = declare(
  "remove",
  { runIds: list(uuid()), stamps: list(text()) },
  { runId: uuid<RunId>() },
);

/** Runs below others that one statement reads. */
const BELOW_MAX = 500;
/** One statement deletes runs until they have this many events: their rows in other tables are fewer. */
const EVENTS_MAX = 20_000;

/** Keeps the graphs of test runs, in the transaction that starts the runs. */
export async function saveTestGraphs(send: Send, graphs: readonly TestGraph[]): Promise<void> {
  await Promise.all(graphs.map((graph) => send(insertTestGraph, graph)));
}

/** Links runs that start to the finished runs that they repair. */
export async function linkRepairs(send: Send, links: readonly NewRepair[]): Promise<void> {
  await send(linkAll, valuesOf(linkAll, links));
}

/** Stores the metadata of runs. They replace earlier ones. */
export async function keepMetadata(send: Send, kept: readonly KeptMetadata[]): Promise<void> {
  await send(keepAllMetadata, valuesOf(keepAllMetadata, kept));
}

/** Stores inputs that have started a run. */
export async function keepInputKeys(send: Send, keys: readonly InputKey[]): Promise<void> {
  void send(dropKeys, {});
  void send(freeKeys, valuesOf(freeKeys, keys));
  await send(keepKeys, valuesOf(keepKeys, keys));
}

/** Moves deadlines of runs whose rows the transaction has locked. */
export async function moveDeadlines(send: Send, moved: readonly MovedDeadline[]): Promise<void> {
  await send(deadlines, valuesOf(deadlines, moved));
}

/** Marks runs that were interrupted or rolled back. The transaction has locked their rows. */
export async function markStops(send: Send, stopped: readonly StoppedRun[]): Promise<void> {
  await send(markAll, valuesOf(markAll, stopped));
}

const idOf = ({ runId }: { readonly runId: RunId }): RunId => runId;

/**
 * Deletes finished test runs and temporary runs with all their rows, and the temporary runs below them. Returns those of the list that it
 * deleted. The logs go last, in pages. @throws STORE_UNAVAILABLE
 */
export async function deleteUnkept(db: Queryable, runIds: readonly RunId[]): Promise<RunId[]> {
  const deleted = await run(db, deleteAll, { runIds });
  await removeLogs(db, deleted.map(idOf));
  return deleted.filter(({ isRoot }) => isRoot).map(idOf);
}

/** Temporary runs that may go, the first one first, and how long each still stays. @throws STORE_UNAVAILABLE */
export const dueTemporary = (db: Queryable, asked: DueFilter): Promise<DueRun[]> =>
  run(db, due, asked);

/**
 * Deletes finished runs with all their rows, in steps: first the runs below them, and of each run the log last. A run stays while a run below
 * it lives. Returns how many runs it deleted. @throws STORE_UNAVAILABLE
 */
export async function deleteRuns(db: Queryable, runIds: readonly RunId[]): Promise<number> {
  let all = 0;
  for (let gone = 1; gone > 0; all += gone) {
    const below = await run(db, endedBelow, { runIds, limit: BELOW_MAX });
    gone = below.length === 0 ? 0 : await deleteRuns(db, below.map(idOf));
  }
  for (;;) {
    const gone = await run(db, deleteFinished, { runIds, events: EVENTS_MAX });
    if (gone.length === 0) return all;
    all += gone.length;
    await removeLogs(db, gone.map(idOf));
  }
}

/**
 * Removes finished runs with all their rows except those of the log. Returns the removed ones. `stamps` are those of the archived runs
 * (store/archive): a run that changed since stays.
 * @throws STORE_UNAVAILABLE
 */
export async function removeRuns(
  db: Queryable,
  runIds: readonly RunId[],
  stamps: readonly string[] = [],
): Promise<RunId[]> {
  return (await run(db, remove, { runIds, stamps })).map(({ runId }) => runId);
}
