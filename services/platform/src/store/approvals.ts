// The read side of approvals: the questions to people, as the log opened and closed them.

import { LIMITS } from "@pawl/core/data/limits";
import { invalidField } from "@pawl/core/fault/engine-error";
import { type ApprovalId, isUuid, type NodeId, type RunId } from "@pawl/core/name/ids";
import { type Queryable, run, type Statement } from "../db/sql.ts";
import { Batch } from "../rpc/batch.ts";
import { wireBytes } from "../rpc/wire-bytes.ts";
import type { ApprovalState } from "./journal.ts";
import { fromPageToken, toPageToken } from "./page-token.ts";
import { readApproval } from "./statements/read-approval.ts";
import { readApprovalsOfRun } from "./statements/read-approvals-of-run.ts";
import { readApprovals } from "./statements/read-approvals.ts";
import { readOpenApprovals } from "./statements/read-open-approvals.ts";

/** An approval as its row says. Times are milliseconds since the epoch. */
export interface ApprovalRecord {
  readonly approvalId: ApprovalId;
  readonly runId: RunId;
  /** Null for a test run. */
  readonly workflowId: string | null;
  readonly nodeId: NodeId;
  readonly iteration: number;
  readonly reason: string;
  readonly message: string;
  /** JSON text. */
  readonly detailsJson: string | null;
  readonly assignees: readonly string[];
  readonly state: ApprovalState;
  readonly openedAt: number;
  readonly deadlineAt: number | null;
  readonly closedAt: number | null;
  readonly decidedBy: string;
  readonly comment: string;
  /** JSON text. */
  readonly responseJson: string | null;
}

export interface ApprovalFilter {
  /** Empty means all. */
  readonly states: readonly ApprovalState[];
  /** Empty means all. */
  readonly workflowId: string;
  /** Empty means all. */
  readonly assignee: string;
  readonly runId: RunId | undefined;
}

export interface ApprovalPage {
  readonly approvals: readonly ApprovalRecord[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
}

interface ApprovalRow {
  readonly approval_id: ApprovalId;
  readonly run_id: RunId;
  readonly workflow_id: string | null;
  readonly node_id: NodeId;
  readonly iteration: number;
  readonly reason: string;
  readonly message: string;
  readonly details: string | null;
  readonly assignees: readonly string[];
  readonly state: ApprovalState;
  readonly opened_at: Date;
  readonly deadline_at: Date | null;
  readonly closed_at: Date | null;
  readonly decided_by: string;
  readonly comment: string;
  readonly response: string | null;
}

const toApproval = (row: ApprovalRow): ApprovalRecord => ({
  approvalId: row.approval_id,
  runId: row.run_id,
  workflowId: row.workflow_id,
  nodeId: row.node_id,
  iteration: row.iteration,
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
  const [row] = await run<ApprovalRow>(db, readApproval, [tenantId, approvalId]);
  return row === undefined ? undefined : toApproval(row);
}

/** Above every UUID that an approval can have. */
const AFTER_ALL = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/** Approvals, newest first. @throws INPUT_INVALID for a token of another filter, STORE_UNAVAILABLE */
export async function listApprovals(
  db: Queryable,
  tenantId: string,
  filter: ApprovalFilter,
  page: { readonly size: number; readonly token: string },
): Promise<ApprovalPage> {
  const states = [...new Set(filter.states)].toSorted();
  const { workflowId, assignee, runId = "" } = filter;
  const bound = `approvals ${JSON.stringify([tenantId, states, workflowId, assignee, runId])}`;
  const before = page.token === "" ? AFTER_ALL : fromPageToken(page.token, bound);
  if (!isUuid(before)) throw invalidField("page_token", "BAD_PAGE_TOKEN", "is not a token");
  const values = [tenantId, before, page.size + 1, workflowId, assignee];
  const asked = questionOf(values, states, runId);
  const rows = await run<ApprovalRow>(db, asked.statement, asked.values);
  // Details and responses may take more than a message: a page ends before that.
  const fitting = new Batch<ApprovalRow>(LIMITS.itemBytes);
  for (const row of rows.slice(0, page.size)) if (!fitting.add(row, wireBytes(row))) break;
  const approvals = fitting.items.map(toApproval);
  const last = approvals.at(-1);
  const hasMore = rows.length > approvals.length && last !== undefined;
  return { approvals, nextPageToken: hasMore ? toPageToken(last.approvalId, bound) : "" };
}

/** Each has an index of its own: what is open is little beside what was. */
function questionOf(
  values: readonly unknown[],
  states: readonly ApprovalState[],
  runId: string,
): { readonly statement: Statement; readonly values: unknown[] } {
  if (runId !== "") return { statement: readApprovalsOfRun, values: [...values, states, runId] };
  if (states.length === 1 && states[0] === "open")
    return { statement: readOpenApprovals, values: [...values] };
  return { statement: readApprovals, values: [...values, states] };
}
