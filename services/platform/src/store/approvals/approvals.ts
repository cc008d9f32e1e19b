// Approvals: questions that wait for a person. The tick opens and closes them in the transaction that appends their events.

import type { ApprovalId, DefinitionId, NodeId, RunId } from "@pawl/core/name/ids";
import { list, number, orNull, text, time, uuid } from "../../db/columns.ts";
import type { Typed } from "../../db/query.ts";
import type { Page } from "../page.ts";

/** Only an open approval can change. */
export type ApprovalState = "open" | "approved" | "rejected" | "timed_out" | "cancelled";

/** The execution that an approval belongs to. */
const PLACE = {
  approvalId: uuid<ApprovalId>(),
  runId: uuid<RunId>(),
  nodeId: text<NodeId>(),
  iteration: number(),
};
/** The columns of a question. */
export const QUESTION = {
  ...PLACE,
  /** Why the node waits. */
  reason: text(),
  message: text(),
  /** JSON text. */
  detailsJson: orNull(text()),
  assignees: list(text()),
};
const ANSWER = {
  decidedBy: text(),
  comment: text(),
  /** JSON text. */
  responseJson: orNull(text()),
};
/** The columns of an approval. */
export const APPROVAL = {
  ...QUESTION,
  ...ANSWER,
  /** Null for a test run. */
  workflowId: orNull(text()),
  state: text<ApprovalState>(),
  openedAt: time(),
  deadlineAt: orNull(time()),
  closedAt: orNull(time()),
};
/** An open approval with a deadline, in milliseconds from now by the clock of the store. */
export const DUE = { ...PLACE, dueInMs: number() };
/** The scheduler checks a decision about an approval against these fields. */
export const FOUND = {
  ...PLACE,
  reason: text(),
  state: text<ApprovalState>(),
  definitionId: uuid<DefinitionId>(),
};
/** An approval that this transaction closes. An approval that is not open stays unchanged. */
export const CLOSED = {
  ...ANSWER,
  approvalId: uuid<ApprovalId>(),
  state: text<Exclude<ApprovalState, "open">>(),
};

export type ApprovalPlace = Typed<typeof PLACE>;
export type ApprovalRecord = Typed<typeof APPROVAL>;
export type DueApproval = Typed<typeof DUE>;
export type FoundApproval = Typed<typeof FOUND>;
export type ClosedApproval = Typed<typeof CLOSED>;
export type ApprovalPage = Page<ApprovalRecord>;

/** A question that waits for a person from this transaction on. Its tenant and workflow are those of its run. */
export interface NewApproval extends Typed<typeof QUESTION> {
  /** The store's clock counts it from the transaction on. */
  readonly deadlineMs: number | null;
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
