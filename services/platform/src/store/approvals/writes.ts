// Opens and closes approvals, in the transaction of a tick.

import { list, number, orNull, text, uuid } from "../../db/columns.ts";
import { columns, queriesBeside, type Send } from "../../db/query.ts";
import type { ClosedApproval, NewApproval } from "./approvals.ts";

const declare = queriesBeside(import.meta.url);

const open = declare("open", {
  approvalId: list(uuid()),
  runId: list(uuid()),
  nodeId: list(text()),
  iteration: list(number()),
  reason: list(text()),
  message: list(text()),
  details: list(orNull(text())),
  assignees: list(text()),
  deadlineMs: list(orNull(number())),
});
const close = declare("close", {
  approvalId: list(uuid()),
  state: list(text()),
  decidedBy: list(text()),
  comment: list(text()),
  response: list(orNull(text())),
});

export async function openApprovals(send: Send, approvals: readonly NewApproval[]): Promise<void> {
  await send(open, {
    ...columns(approvals, ["approvalId", "runId", "nodeId", "iteration"]),
    ...columns(approvals, ["reason", "message", "deadlineMs"]),
    details: approvals.map(({ detailsJson }) => detailsJson),
    assignees: approvals.map(({ assignees }) => JSON.stringify(assignees)),
  });
}

export async function closeApprovals(
  send: Send,
  approvals: readonly ClosedApproval[],
): Promise<void> {
  await send(close, {
    ...columns(approvals, ["approvalId", "state", "decidedBy", "comment"]),
    response: approvals.map(({ responseJson }) => responseJson),
  });
}
