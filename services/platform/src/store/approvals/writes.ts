// Opens and closes approvals, in the transaction of a tick.

import { lists, number, orNull, text } from "../../db/columns.ts";
import { queriesBeside, type Send, valuesOf } from "../../db/query.ts";
import { CLOSED, type ClosedApproval, type NewApproval, QUESTION } from "./approvals.ts";

const declare = queriesBeside(import.meta.url);

/** The assignees are a JSON array. */
const OPENED = { ...QUESTION, assignees: text(), deadlineMs: orNull(number()) };
const open = declare("open", lists(OPENED));
const close = declare("close", lists(CLOSED));

export async function openApprovals(send: Send, approvals: readonly NewApproval[]): Promise<void> {
  const rows = approvals.map((approval) => ({
    ...approval,
    assignees: JSON.stringify(approval.assignees),
  }));
  await send(open, valuesOf(open, rows));
}

export async function closeApprovals(send: Send, closed: readonly ClosedApproval[]): Promise<void> {
  await send(close, valuesOf(close, closed));
}
