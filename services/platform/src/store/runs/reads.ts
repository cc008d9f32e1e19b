// Reads runs.

import { LIMITS } from "@pawl/core/data/limits";
import type { TypedFilter } from "@pawl/core/filter/typed";
import type { RunId } from "@pawl/core/name/ids";
import type { Pool } from "../../db/pool.ts";
import { flag, list, lists, number, orNull, orNulls, text, uuid } from "../../db/columns.ts";
import {
  bind,
  first,
  queriesBeside,
  type Query,
  type Queryable,
  type RowOf,
  rowsOf,
  type Shape,
  run,
  type Typed,
} from "../../db/query.ts";
import { countEvents, loadEvents } from "../log/reads.ts";
import { NEWEST_FIRST, type PageRequest, readPage } from "../page.ts";
import { type Snapshot, snapshotDigest } from "../recovery/recovery.ts";
import {
  type FoundRequest,
  type LoadCursor,
  LOADED,
  type LoadedRun,
  REQUEST,
  RUN,
  type RunFilter,
  type RunPage,
  type RunRecord,
  STARTED_INPUT,
  type StartedInput,
} from "./runs.ts";
import { filterSql } from "./filter-sql.ts";
import { readRunSearch, SEARCH } from "./search.ts";

const declare = queriesBeside(import.meta.url);

const TENANT = { tenantId: text() };
const FILTER = {
  ...TENANT,
  before: uuid(),
  limit: number(),
  statuses: list(text()),
  kind: text(),
  stops: list(text()),
};
const OF_WORKFLOW = { ...FILTER, workflowId: text() };
const OF_SCHEDULE = { ...OF_WORKFLOW, scheduleId: text() };
const OF_THREAD = { ...OF_SCHEDULE, threadId: text() };
const OF_ASSISTANT = { ...OF_THREAD, assistantId: text() };
const FOUND = { runId: uuid<RunId>() };
const byId = declare("by_id", { ...TENANT, runIds: list(uuid()) }, RUN);
const page = declare("page", FILTER, RUN);
const pageOfWorkflow = declare("page_of_workflow", OF_WORKFLOW, RUN);
const pageOfSchedule = declare("page_of_schedule", OF_SCHEDULE, RUN);
const pageOfThread = declare("page_of_thread", OF_THREAD, RUN);
const pageOfAssistant = declare("page_of_assistant", OF_ASSISTANT, RUN);
const filtered = declare("filtered", OF_ASSISTANT, RUN);
const search = declare("search", { ...OF_ASSISTANT, ...SEARCH, matchesMax: number() }, RUN);
const SNAPSHOT = orNulls({
  snapshotSeq: number(),
  snapshotFormat: number(),
  snapshotDigest: number(),
  snapshotBody: text(),
});
const load = declare("load", lists({ runId: uuid(), fromSnapshot: flag() }), {
  ...LOADED,
  ...SNAPSHOT,
});
const ofRequests = declare("of_requests", { ...TENANT, requestIds: list(text()) }, REQUEST);
const ofInputs = declare("of_input_keys", { ...TENANT, inputKeys: list(text()) }, STARTED_INPUT);
const liveLoad = declare(
  "live_load",
  {},
  {
    runsPending: number(),
    runsRunning: number(),
    pendingOldestMs: orNull(number()),
    pendingMedianMs: orNull(number()),
  },
);
const NO_LOAD = { runsPending: 0, runsRunning: 0, pendingOldestMs: null, pendingMedianMs: null };
const liveChildren = declare("live_children", { runIds: list(uuid()), limit: number() }, FOUND);
const overdue = declare("overdue", { limit: number() }, FOUND);

const repairs = declare(
  "repairs",
  { runId: uuid(), limit: number() },
  { repairOf: orNull(uuid<RunId>()), repairedBy: list(uuid<RunId>()) },
);

/** How many repairs of one run are read. */
const REPAIRS_MAX = 100;

/** The run that a run repairs, and the runs that repair it. @throws STORE_UNAVAILABLE */
export async function readRepairs(db: Queryable, runId: RunId) {
  const found = await first(db, repairs, { runId, limit: REPAIRS_MAX });
  return { repairOf: found?.repairOf ?? "", repairedBy: [...(found?.repairedBy ?? [])] };
}

/** One run, or undefined. @throws STORE_UNAVAILABLE */
export async function getRun(
  db: Queryable,
  tenantId: string,
  runId: RunId,
): Promise<RunRecord | undefined> {
  const [record] = await getRuns(db, tenantId, [runId]);
  return record;
}

/** Several runs in one statement, in the order asked for. @throws STORE_UNAVAILABLE */
export async function getRuns(
  db: Queryable,
  tenantId: string,
  runIds: readonly RunId[],
): Promise<(RunRecord | undefined)[]> {
  const rows = await run(db, byId, { tenantId, runIds });
  const found = new Map(rows.map((row) => [row.runId, row]));
  return runIds.map((runId) => found.get(runId));
}

/** The marked condition of the statement. */
const CONDITION = "true /* filter */";

/**
 * The sessions of a pool have no bitmap scans, which an index of metadata needs, and plan without values. A filter is planned with both, for
 * its own transaction only.
 */
export const PLAN_OF_FILTER =
  "set local enable_bitmapscan = on; set local plan_cache_mode = force_custom_plan";

/**
 * Runs a statement with a marked condition in a transaction: `filter-sql.ts` makes the condition. Each filter is a statement of its own,
 * which PostgreSQL plans with its values.
 */
export async function runFiltered<Given extends Shape, Columns extends Shape>(
  db: Queryable,
  query: Query<Given, Columns>,
  given: Typed<Given>,
  filter: TypedFilter,
): Promise<Typed<Columns>[]> {
  await db.query({ text: PLAN_OF_FILTER });
  const call = bind(query, given);
  const condition = filterSql(filter, call.values.length);
  const values = [...call.values, ...condition.values];
  const asked = { text: call.text.replace(CONDITION, () => condition.sql), values };
  const { rows } = await db.query<Readonly<Record<string, unknown>>>(asked);
  return rowsOf(query, rows);
}

/** Runs that a filter finds. */
const readFiltered = (
  pool: Pool,
  given: Typed<typeof OF_ASSISTANT>,
  filter: TypedFilter,
): Promise<RunRecord[]> => pool.transaction((db) => runFiltered(db, filtered, given, filter));

/** Runs, newest first. @throws INPUT_INVALID for a token of another filter, STORE_UNAVAILABLE */
export async function listRuns(
  db: Pool,
  tenantId: string,
  filter: RunFilter,
  asked: PageRequest,
): Promise<RunPage> {
  const statuses = [...new Set(filter.statuses)].toSorted();
  const { workflowId, kind = "", scheduleId = "", search: searched = "" } = filter;
  const { threadId = "", assistantId = "", stops = [] } = filter;
  const words = searched === "" ? [] : [searched];
  const narrowed = threadId === "" && stops.length === 0 ? [] : [threadId, ...stops.toSorted()];
  const { condition } = filter;
  const bound = [tenantId, statuses, workflowId, kind, scheduleId, ...words, ...narrowed];
  if (condition !== undefined) bound.push(condition.text, "filter");
  if (assistantId !== "") bound.push(assistantId, "assistant");
  return await readPage(asked, {
    ...NEWEST_FIRST,
    filter: `runs ${JSON.stringify(bound)}`,
    keyOf: (row) => row.runId,
    // Uses the index that fits the filter best.
    read: (before, limit) => {
      const values = { tenantId, before, limit, statuses, kind, stops };
      const links = { workflowId, scheduleId, threadId };
      const ofAll = { ...values, ...links, assistantId };
      if (condition !== undefined) return readFiltered(db, ofAll, condition.typed);
      if (searched !== "") {
        const matchesMax = LIMITS.searchMatches;
        const ways = { ...readRunSearch(searched), matchesMax };
        return run(db, search, { ...ofAll, ...ways });
      }
      if (assistantId !== "") return run(db, pageOfAssistant, ofAll);
      if (threadId !== "") return run(db, pageOfThread, { ...values, ...links });
      if (scheduleId !== "") return run(db, pageOfSchedule, { ...values, scheduleId, workflowId });
      if (workflowId !== "") return run(db, pageOfWorkflow, { ...values, workflowId });
      return run(db, page, values);
    },
  });
}

/** Runs with their events after a cursor each. Runs that do not exist are left out. @throws STORE_UNAVAILABLE */
export async function loadRuns(
  db: Queryable,
  cursors: readonly LoadCursor[],
): Promise<LoadedRun[]> {
  if (cursors.length === 0) return [];
  const rows = await run(db, load, {
    runId: cursors.map(({ runId }) => runId),
    fromSnapshot: cursors.map(({ fromSnapshot }) => fromSnapshot === true),
  });
  const afterSeqs = new Map(cursors.map(({ runId, afterSeq }) => [runId, afterSeq]));
  const found = rows.map(({ snapshotSeq, snapshotFormat, snapshotBody, ...row }) => {
    const { snapshotDigest: digest, ...loaded } = row;
    const snapshot = wholeSnapshot(snapshotSeq, snapshotFormat, snapshotBody, digest);
    return { ...loaded, snapshot, afterSeq: snapshot?.seq ?? afterSeqs.get(row.runId) ?? 0 };
  });
  const [events, counts] = await Promise.all([loadEvents(db, found), countEvents(db, found)]);
  return found.map((loaded) => ({
    ...loaded,
    events: events.get(loaded.runId) ?? [],
    eventCount: counts.get(loaded.runId) ?? 0,
  }));
}

/** The snapshot of a run. A snapshot with a damaged body counts as none. */
function wholeSnapshot(
  seq: number | null,
  format: number | null,
  body: string | null,
  digest: number | null,
): Snapshot | null {
  if (seq === null || format === null || body === null) return null;
  return snapshotDigest(body) === digest ? { seq, format, body } : null;
}

/** The runs that these request ids started. @throws STORE_UNAVAILABLE */
export const findRequests = (
  db: Queryable,
  tenantId: string,
  requestIds: readonly string[],
): Promise<FoundRequest[]> => run(db, ofRequests, { tenantId, requestIds });

/** The runs that these inputs started, for keys that are not expired. @throws STORE_UNAVAILABLE */
export const findInputKeys = (
  db: Queryable,
  tenantId: string,
  inputKeys: readonly string[],
): Promise<StartedInput[]> => run(db, ofInputs, { tenantId, inputKeys });

/** Live runs that nodes of these runs started. @throws STORE_UNAVAILABLE */
export async function findLiveChildren(
  db: Queryable,
  runIds: readonly RunId[],
  limit: number,
): Promise<RunId[]> {
  return (await run(db, liveChildren, { runIds, limit })).map(({ runId }) => runId);
}

/** Live runs whose deadline has passed. @throws STORE_UNAVAILABLE */
export async function findOverdueRuns(db: Queryable, limit: number): Promise<RunId[]> {
  return (await run(db, overdue, { limit })).map(({ runId }) => runId);
}

/** How many runs are pending and under way, and how long the pending ones have waited. @throws STORE_UNAVAILABLE */
export async function readLiveLoad(db: Queryable): Promise<RowOf<typeof liveLoad>> {
  return (await first(db, liveLoad, {})) ?? NO_LOAD;
}
