// The read side of runs: the projection that is written in the same transaction as the events.

import type { ParentLink, RunKind, RunStatus, ScheduleLink } from "@pawl/core/log/event";
import { type DefinitionId, isUuid, type NodeId, type RunId } from "@pawl/core/name/ids";
import { invalidField } from "@pawl/core/fault/engine-error";
import { type Queryable, run } from "../db/sql.ts";
import { fromPageToken, toPageToken } from "./page-token.ts";
import { quarantineOf, type QuarantineRow } from "./quarantine-row.ts";
import type { Quarantine } from "./recovery.ts";
import { readRunSearch } from "./run-search.ts";
import { readRunPageOfSchedule } from "./statements/read-run-page-of-schedule.ts";
import { readRunPageOfWorkflow } from "./statements/read-run-page-of-workflow.ts";
import { readRunPage } from "./statements/read-run-page.ts";
import { readRuns } from "./statements/read-runs.ts";
import { searchRunPage } from "./statements/search-run-page.ts";

/** A run as its row says. Times are milliseconds since the epoch. */
export interface RunRecord {
  readonly runId: RunId;
  readonly definitionId: DefinitionId;
  /** Null for a test run. */
  readonly workflowId: string | null;
  readonly workflowVersion: number;
  readonly kind: RunKind;
  readonly status: RunStatus;
  readonly lastSeq: number;
  readonly hasFailures: boolean;
  readonly priority: number;
  readonly errorMessage: string | null;
  readonly traceparent: string | null;
  readonly createdAt: number;
  readonly endedAt: number | null;
  readonly deadlineAt: number;
  readonly parent: ParentLink | null;
  /** Set while nothing of the run may move. */
  readonly quarantine: Quarantine | null;
  readonly schedule?: ScheduleLink;
}

export interface RunFilter {
  /** Empty means all. */
  readonly statuses: readonly RunStatus[];
  /** Empty means all. */
  readonly workflowId: string;
  readonly kind: RunKind | undefined;
  /** Empty means all. */
  readonly scheduleId?: string;
  /** The beginning of a workflow id, of words of its id or title or of a run id, or a short run id; empty means all. */
  readonly search?: string;
}

export interface RunPage {
  readonly runs: readonly RunRecord[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
}

interface RunRow extends QuarantineRow {
  readonly run_id: RunId;
  readonly definition_id: DefinitionId;
  readonly workflow_id: string | null;
  readonly workflow_version: number;
  readonly kind: RunKind;
  readonly status: RunStatus;
  readonly last_seq: number;
  readonly has_failures: boolean;
  readonly priority: number;
  readonly error_message: string | null;
  readonly traceparent: string | null;
  readonly created_at: Date;
  readonly ended_at: Date | null;
  readonly deadline_at: Date;
  readonly parent_run_id: RunId | null;
  readonly parent_node_id: NodeId | null;
  readonly parent_iteration: number | null;
  readonly schedule_id: string | null;
  readonly schedule_at: Date | null;
}

const toRun = (row: RunRow): RunRecord => ({
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

const scheduleOf = ({ schedule_id: scheduleId, schedule_at: at }: RunRow) =>
  scheduleId === null || at === null ? {} : { schedule: { scheduleId, at: at.getTime() } };

function parentOf(row: RunRow): ParentLink | null {
  const { parent_run_id: runId, parent_node_id: nodeId, parent_iteration: iteration } = row;
  return runId === null || nodeId === null ? null : { runId, nodeId, iteration: iteration ?? 0 };
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
  const rows = await run<RunRow>(db, readRuns, [tenantId, runIds]);
  const byId = new Map(rows.map((row) => [row.run_id, toRun(row)]));
  return runIds.map((runId) => byId.get(runId));
}

/** Above every UUID that a run can have. */
const AFTER_ALL = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/** Runs, newest first. @throws INPUT_INVALID for a token of another filter, STORE_UNAVAILABLE */
export async function listRuns(
  db: Queryable,
  tenantId: string,
  filter: RunFilter,
  page: { readonly size: number; readonly token: string },
): Promise<RunPage> {
  const statuses = [...new Set(filter.statuses)].toSorted();
  const { workflowId, kind = "", scheduleId = "", search = "" } = filter;
  const searched = search === "" ? [] : [search];
  const bound = `runs ${JSON.stringify([tenantId, statuses, workflowId, kind, scheduleId, ...searched])}`;
  const before = page.token === "" ? AFTER_ALL : fromPageToken(page.token, bound);
  if (!isUuid(before)) throw invalidField("page_token", "BAD_PAGE_TOKEN", "is not a token");
  const values = [tenantId, before, page.size + 1, statuses, kind];
  const rows = await readPage(db, values, { workflowId, scheduleId, search });
  const runs = rows.slice(0, page.size).map(toRun);
  const last = runs.at(-1);
  const hasMore = rows.length > page.size && last !== undefined;
  return { runs, nextPageToken: hasMore ? toPageToken(last.runId, bound) : "" };
}

/** By the index that fits the filter best. */
function readPage(
  db: Queryable,
  values: readonly unknown[],
  {
    workflowId,
    scheduleId,
    search,
  }: Required<Pick<RunFilter, "workflowId" | "scheduleId" | "search">>,
): Promise<RunRow[]> {
  if (search !== "") {
    const { word, longestWord, otherWords, runFrom, runTo, shortId } = readRunSearch(search);
    const ways = [word, longestWord, otherWords, runFrom, runTo, shortId];
    return run<RunRow>(db, searchRunPage, [...values, ...ways, workflowId, scheduleId]);
  }
  if (scheduleId !== "")
    return run<RunRow>(db, readRunPageOfSchedule, [...values, scheduleId, workflowId]);
  return workflowId === ""
    ? run<RunRow>(db, readRunPage, [...values])
    : run<RunRow>(db, readRunPageOfWorkflow, [...values, workflowId]);
}
