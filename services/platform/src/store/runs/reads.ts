// Reads runs.

import { LIMITS } from "@pawl/core/data/limits";
import type { ParentLink, RunKind, RunStatus } from "@pawl/core/log/event";
import type { DefinitionId, NodeId, RunId } from "@pawl/core/name/ids";
import { flag, list, number, orNull, text, time, uuid } from "../../db/columns.ts";
import { queriesBeside, run, type RowOf, type Typed } from "../../db/query.ts";
import type { Queryable } from "../../db/sql.ts";
import { countEvents, loadEvents } from "../log/reads.ts";
import { pageNewestFirst, type PageRequest } from "../page.ts";
import { type Quarantine, type Snapshot, snapshotDigest } from "../recovery/recovery.ts";
import type { LoadCursor, LoadedRun, RunFilter, RunPage, RunRecord } from "./runs.ts";
import { readRunSearch } from "./search.ts";

const declare = queriesBeside(import.meta.url);

const QUARANTINE = {
  quarantined_at: orNull(time()),
  quarantine_reason: orNull(text<Quarantine["reason"]>()),
  quarantine_detail: orNull(text()),
};
const COLUMNS = {
  run_id: uuid<RunId>(),
  definition_id: uuid<DefinitionId>(),
  workflow_id: orNull(text()),
  workflow_version: number(),
  kind: text<RunKind>(),
  status: text<RunStatus>(),
  last_seq: number(),
  has_failures: flag(),
  priority: number(),
  error_message: orNull(text()),
  traceparent: orNull(text()),
  created_at: time(),
  ended_at: orNull(time()),
  deadline_at: time(),
  parent_run_id: orNull(uuid<RunId>()),
  parent_node_id: orNull(text<NodeId>()),
  parent_iteration: orNull(number()),
  ...QUARANTINE,
  schedule_id: orNull(text()),
  schedule_at: orNull(time()),
};
const FILTER = {
  tenantId: text(),
  before: uuid(),
  limit: number(),
  statuses: list(text()),
  kind: text(),
};
const FOUND = { run_id: uuid<RunId>() };
const byId = declare("by_id", { tenantId: text(), runIds: list(uuid()) }, COLUMNS);
const page = declare("page", FILTER, COLUMNS);
const pageOfWorkflow = declare("page_of_workflow", { ...FILTER, workflowId: text() }, COLUMNS);
const pageOfSchedule = declare(
  "page_of_schedule",
  { ...FILTER, scheduleId: text(), workflowId: text() },
  COLUMNS,
);
const search = declare(
  "search",
  {
    ...FILTER,
    workflowId: text(),
    scheduleId: text(),
    word: text(),
    longestWord: orNull(text()),
    otherWords: list(text()),
    runFrom: orNull(uuid()),
    runTo: orNull(uuid()),
    shortId: orNull(text()),
    matchesMax: number(),
  },
  COLUMNS,
);
const load = declare(
  "load",
  { runId: list(uuid()), fromSnapshot: list(flag()) },
  {
    run_id: uuid<RunId>(),
    version: number(),
    last_seq: number(),
    definition_id: uuid<DefinitionId>(),
    workflow_id: orNull(text()),
    priority: number(),
    traceparent: orNull(text()),
    has_ended: flag(),
    ...QUARANTINE,
    snapshot_seq: orNull(number()),
    snapshot_format: orNull(number()),
    snapshot_digest: orNull(number()),
    snapshot_body: orNull(text()),
  },
);
const ofRequests = declare(
  "of_requests",
  { tenantId: text(), requestIds: list(text()) },
  { request_id: text(), request_hash: text(), run_id: uuid<RunId>() },
);
const ofInputKeys = declare(
  "of_input_keys",
  { tenantId: text(), inputKeys: list(text()) },
  { input_key: text(), run_id: uuid<RunId>() },
);
const liveChildren = declare("live_children", { runIds: list(uuid()), limit: number() }, FOUND);
const overdue = declare("overdue", { limit: number() }, FOUND);

type Row = RowOf<typeof page>;

const toRun = (row: Row): RunRecord => ({
  runId: row.run_id,
  definitionId: row.definition_id,
  workflowId: row.workflow_id,
  workflowVersion: row.workflow_version,
  kind: row.kind,
  status: row.status,
  lastSeq: row.last_seq,
  hasFailures: row.has_failures,
  priority: row.priority,
  errorMessage: row.error_message,
  traceparent: row.traceparent,
  createdAt: row.created_at.getTime(),
  endedAt: row.ended_at?.getTime() ?? null,
  deadlineAt: row.deadline_at.getTime(),
  parent: parentOf(row),
  quarantine: quarantineOf(row),
  ...scheduleOf(row),
});

const scheduleOf = ({ schedule_id: scheduleId, schedule_at: at }: Row) =>
  scheduleId === null || at === null ? {} : { schedule: { scheduleId, at: at.getTime() } };

function parentOf(row: Row): ParentLink | null {
  const { parent_run_id: runId, parent_node_id: nodeId, parent_iteration: iteration } = row;
  return runId === null || nodeId === null ? null : { runId, nodeId, iteration: iteration ?? 0 };
}

function quarantineOf(row: Typed<typeof QUARANTINE>): Quarantine | null {
  const { quarantined_at: at, quarantine_reason: reason, quarantine_detail: detail } = row;
  return at === null
    ? null
    : { at: at.getTime(), reason: reason ?? "INTERNAL", detail: detail ?? "" };
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
  const found = new Map(rows.map((row) => [row.run_id, toRun(row)]));
  return runIds.map((runId) => found.get(runId));
}

/** Runs, newest first. @throws INPUT_INVALID for a token of another filter, STORE_UNAVAILABLE */
export async function listRuns(
  db: Queryable,
  tenantId: string,
  filter: RunFilter,
  asked: PageRequest,
): Promise<RunPage> {
  const statuses = [...new Set(filter.statuses)].toSorted();
  const { workflowId, kind = "", scheduleId = "", search: searched = "" } = filter;
  const words = searched === "" ? [] : [searched];
  const bound = [tenantId, statuses, workflowId, kind, scheduleId, ...words];
  const { rows, nextPageToken } = await pageNewestFirst<Row>(asked, {
    filter: `runs ${JSON.stringify(bound)}`,
    keyOf: (row) => row.run_id,
    // By the index that fits the filter best.
    read: (before, limit) => {
      const values = { tenantId, before, limit, statuses, kind };
      if (searched !== "") {
        const matchesMax = LIMITS.searchMatches;
        const ways = { ...readRunSearch(searched), matchesMax };
        return run(db, search, { ...values, ...ways, workflowId, scheduleId });
      }
      if (scheduleId !== "") return run(db, pageOfSchedule, { ...values, scheduleId, workflowId });
      if (workflowId !== "") return run(db, pageOfWorkflow, { ...values, workflowId });
      return run(db, page, values);
    },
  });
  return { runs: rows.map(toRun), nextPageToken };
}

/** Runs with their events after a cursor each; runs that do not exist are left out. @throws STORE_UNAVAILABLE */
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
  const found = rows.map((row) => {
    const { run_id: runId, last_seq: lastSeq } = row;
    const snapshot = snapshotOf(row);
    const afterSeq = snapshot?.seq ?? afterSeqs.get(runId) ?? 0;
    return { row, snapshot, range: { runId, afterSeq, lastSeq } };
  });
  const ranges = found.map(({ range }) => range);
  const [events, counts] = await Promise.all([loadEvents(db, ranges), countEvents(db, ranges)]);
  return found.map(({ row, snapshot, range }) => ({
    ...range,
    version: row.version,
    hasEnded: row.has_ended,
    definitionId: row.definition_id,
    workflowId: row.workflow_id,
    priority: row.priority,
    traceparent: row.traceparent,
    quarantine: quarantineOf(row),
    snapshot,
    events: events.get(row.run_id) ?? [],
    eventCount: counts.get(row.run_id) ?? 0,
  }));
}

/** The snapshot of a run; a snapshot whose body is damaged counts as none. */
function snapshotOf(row: RowOf<typeof load>): Snapshot | null {
  const { snapshot_seq: seq, snapshot_format: format, snapshot_body: body } = row;
  if (seq === null || format === null || body === null) return null;
  return snapshotDigest(body) === row.snapshot_digest ? { seq, format, body } : null;
}

/** The runs that request ids were used for. @throws STORE_UNAVAILABLE */
export async function findRequests(
  db: Queryable,
  tenantId: string,
  requestIds: readonly string[],
): Promise<{ requestId: string; requestHash: string; runId: RunId }[]> {
  const rows = await run(db, ofRequests, { tenantId, requestIds });
  return rows.map((row) => ({
    requestId: row.request_id,
    requestHash: row.request_hash,
    runId: row.run_id,
  }));
}

/** The runs that inputs were started as, where their keys still live. @throws STORE_UNAVAILABLE */
export async function findInputKeys(
  db: Queryable,
  tenantId: string,
  inputKeys: readonly string[],
): Promise<{ inputKey: string; runId: RunId }[]> {
  const rows = await run(db, ofInputKeys, { tenantId, inputKeys });
  return rows.map((row) => ({ inputKey: row.input_key, runId: row.run_id }));
}

/** Runs that nodes of these runs started and that have not ended. @throws STORE_UNAVAILABLE */
export async function findLiveChildren(
  db: Queryable,
  runIds: readonly RunId[],
  limit: number,
): Promise<RunId[]> {
  return (await run(db, liveChildren, { runIds, limit })).map((row) => row.run_id);
}

/** Live runs whose deadline has passed. @throws STORE_UNAVAILABLE */
export async function findOverdueRuns(db: Queryable, limit: number): Promise<RunId[]> {
  return (await run(db, overdue, { limit })).map((row) => row.run_id);
}
