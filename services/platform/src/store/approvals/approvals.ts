// Approvals: questions that wait for a person. The tick opens and closes them in the transaction that appends their events.

import type { ApprovalId, DefinitionId, NodeId, RunId } from "@pawl/core/name/ids";

/** Only an open approval can change. */
export type ApprovalState = "open" | "approved" | "rejected" | "timed_out" | "cancelled";

/** The execution that an approval belongs to. */
export interface ApprovalPlace {
  readonly approvalId: ApprovalId;
  readonly runId: RunId;
  readonly nodeId: NodeId;
  readonly iteration: number;
}

/** A question that waits for a person from this transaction on. Its tenant and workflow are those of its run. */
export interface NewApproval extends ApprovalPlace {
  /** Why the node waits. */
  readonly reason: string;
  readonly message: string;
  /** JSON text. */
  readonly detailsJson: string | null;
  readonly assignees: readonly string[];
  /** Counted by the store's clock from the transaction on. */
  readonly deadlineMs: number | null;
}

/** How an approval ends in this transaction; an approval that is not open stays as it is. */
export interface ClosedApproval {
  readonly approvalId: ApprovalId;
  readonly state: Exclude<ApprovalState, "open">;
  readonly decidedBy: string;
  readonly comment: string;
  /** JSON text. */
  readonly responseJson: string | null;
}

/** An open approval with a deadline. */
export interface DueApproval extends ApprovalPlace {
  /** By the store's clock; 0 or less once it has passed. */
  readonly dueInMs: number;
}

/** What the scheduler checks a decision about an approval against. */
export interface FoundApproval extends ApprovalPlace {
  readonly definitionId: DefinitionId;
  readonly reason: string;
  readonly state: ApprovalState;
}

/** An approval as its row has it. Times are milliseconds since the epoch. */
export interface ApprovalRecord extends Omit<NewApproval, "deadlineMs"> {
  /** Null for a test run. */
  readonly workflowId: string | null;
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
