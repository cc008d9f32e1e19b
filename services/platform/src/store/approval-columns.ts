// Approvals of a transaction as the columns of their statements.

import type { ClosedApproval, NewApproval } from "./journal.ts";
import type { Parameter } from "./tick-batch.ts";

export const openedColumns = (approvals: readonly NewApproval[]): Parameter[] => [
  approvals.map((each) => each.approvalId),
  approvals.map((each) => each.runId),
  approvals.map((each) => each.nodeId),
  approvals.map((each) => each.iteration),
  approvals.map((each) => each.reason),
  approvals.map((each) => each.message),
  approvals.map((each) => each.detailsJson),
  approvals.map((each) => JSON.stringify(each.assignees)),
  approvals.map((each) => each.deadlineMs),
];

export const closedColumns = (approvals: readonly ClosedApproval[]): Parameter[] => [
  approvals.map((each) => each.approvalId),
  approvals.map((each) => each.state),
  approvals.map((each) => each.decidedBy),
  approvals.map((each) => each.comment),
  approvals.map((each) => each.responseJson),
];
