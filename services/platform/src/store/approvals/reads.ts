// Reads approvals.

import { LIMITS } from "@pawl/core/data/limits";
import type { ApprovalId, DefinitionId, NodeId, RunId } from "@pawl/core/name/ids";
import { list, number, orNull, text, time, uuid } from "../../db/columns.ts";
import { queriesBeside, run, type RowOf, type Typed } from "../../db/query.ts";
import type { Queryable } from "../../db/sql.ts";
import { Batch } from "../../rpc/batch.ts";
import { wireBytes } from "../../rpc/wire-bytes.ts";
import { pageNewestFirst, type PageRequest } from "../page.ts";
import type {
  ApprovalFilter,
  ApprovalPage,
  ApprovalPlace,
  ApprovalRecord,
  ApprovalState,
  DueApproval,
  FoundApproval,
} from "./approvals.ts";

const declare = queriesBeside(import.meta.url);

const PLACE = {
  approval_id: uuid<ApprovalId>(),
  run_id: uuid<RunId>(),
  node_id: text<NodeId>(),
  iteration: number(),
};
const COLUMNS = {
  ...PLACE,
  workflow_id: orNull(text()),
  reason: text(),
  message: text(),
  details: orNull(text()),
  assignees: list(text()),
  state: text<ApprovalState>(),
  opened_at: time(),
  deadline_at: orNull(time()),
  closed_at: orNull(time()),
  decided_by: text(),
  comment: text(),
  response: orNull(text()),
};
const FILTER = {
  tenantId: text(),
  workflowId: text(),
  assignee: text(),
  before: uuid(),
  limit: number(),
};
const one = declare("one", { tenantId: text(), approvalId: uuid<ApprovalId>() }, COLUMNS);
const pageOfOpen = declare("page_of_open", FILTER, COLUMNS);
const page = declare("page", { ...FILTER, states: list(text()) }, COLUMNS);
const pageOfRun = declare(
  "page_of_run",
  { ...FILTER, states: list(text()), runId: uuid() },
  COLUMNS,
);
const countOpen = declare("count_open", { tenantId: text() }, { count: number() });
const due = declare("due", { limit: number() }, { ...PLACE, due_in_ms: number() });
const place = declare(
  "place",
  { approvalId: uuid<ApprovalId>() },
  {
    ...PLACE,
    reason: text(),
    state: text<ApprovalState>(),
    definition_id: uuid<DefinitionId>(),
  },
);

type Row = RowOf<typeof one>;

const placeOf = (row: Typed<typeof PLACE>): ApprovalPlace => ({
  approvalId: row.approval_id,
  runId: row.run_id,
  nodeId: row.node_id,
  iteration: row.iteration,
});

const toApproval = (row: Row): ApprovalRecord => ({
  ...placeOf(row),
  workflowId: row.workflow_id,
  reason: row.reason,
  message: row.message,
  detailsJson: row.details,
  assignees: row.assignees,
  state: row.state,
  openedAt: row.opened_at.getTime(),
  deadlineAt: row.deadline_at?.getTime() ?? null,
  closedAt: row.closed_at?.getTime() ?? null,
  decidedBy: row.decided_by,
  comment: row.comment,
  responseJson: row.response,
});

/** One approval, or undefined. @throws STORE_UNAVAILABLE */
export async function getApproval(
  db: Queryable,
  tenantId: string,
  approvalId: ApprovalId,
): Promise<ApprovalRecord | undefined> {
  const [row] = await run(db, one, { tenantId, approvalId });
  return row === undefined ? undefined : toApproval(row);
}

/** Approvals, newest first. @throws INPUT_INVALID for a token of another filter, STORE_UNAVAILABLE */
export async function listApprovals(
  db: Queryable,
  tenantId: string,
  filter: ApprovalFilter,
  asked: PageRequest,
): Promise<ApprovalPage> {
  const states = [...new Set(filter.states)].toSorted();
  const { workflowId, assignee, runId = "" } = filter;
  const { rows, nextPageToken } = await pageNewestFirst<Row>(asked, {
    filter: `approvals ${JSON.stringify([tenantId, states, workflowId, assignee, runId])}`,
    keyOf: (row) => row.approval_id,
    // Each filter has an index of its own: open approvals are few beside closed ones.
    read: (before, limit) => {
      const values = { tenantId, workflowId, assignee, before, limit };
      if (runId !== "") return run(db, pageOfRun, { ...values, states, runId });
      if (states.join() === "open") return run(db, pageOfOpen, values);
      return run(db, page, { ...values, states });
    },
    fitting,
  });
  return { approvals: rows.map(toApproval), nextPageToken };
}

/** Details and responses may take more bytes than a message holds: a page ends before that. */
function fitting(rows: readonly Row[]): readonly Row[] {
  const batch = new Batch<Row>(LIMITS.itemBytes);
  for (const row of rows) if (!batch.add(row, wireBytes(row))) break;
  return batch.items;
}

/** How many approvals wait for a person, up to a bound. @throws STORE_UNAVAILABLE */
export async function countOpenApprovals(db: Queryable, tenantId: string): Promise<number> {
  const [row] = await run(db, countOpen, { tenantId });
  return row?.count ?? 0;
}

/** Open approvals that have a deadline, the soonest first. @throws STORE_UNAVAILABLE */
export async function dueApprovals(db: Queryable, limit: number): Promise<readonly DueApproval[]> {
  const rows = await run(db, due, { limit });
  return rows.map((row) => ({ ...placeOf(row), dueInMs: row.due_in_ms }));
}

/** Where an approval belongs, or undefined. @throws STORE_UNAVAILABLE */
export async function findApproval(
  db: Queryable,
  approvalId: ApprovalId,
): Promise<FoundApproval | undefined> {
  const [row] = await run(db, place, { approvalId });
  if (row === undefined) return undefined;
  const { definition_id: definitionId, reason, state } = row;
  return { ...placeOf(row), definitionId, reason, state };
}
