// Approvals follow the log: a hold that a drafted fact opens or ends is opened or closed as a row in the same transaction, whichever
// way it ends. Rows are a reading of the log for people; nothing is decided on them.

import { APPROVAL, type Fact, type NodeDecision } from "@pawl/core/log/event";
import type { HoldState } from "@pawl/core/log/state";
import type { NodeId, RunId } from "@pawl/core/name/ids";
import type { ClosedApproval, NewApproval } from "@pawl/platform/store/approvals/approvals";

export interface ApprovalDraft {
  readonly opened: NewApproval[];
  readonly closed: ClosedApproval[];
}

const STATES: Readonly<Record<NodeDecision, ClosedApproval["state"]>> = {
  approve: "approved",
  reject: "rejected",
  timeout: "timed_out",
};

/** Notes what a fact about an execution means for its question; `held` is the execution's hold before the fact. */
export function noteHold(
  { opened, closed }: ApprovalDraft,
  place: { readonly runId: RunId; readonly nodeId: NodeId },
  { held, fact }: { readonly held: HoldState | undefined; readonly fact: Fact },
): void {
  if (fact.type === "node.blocked" && fact.payload.approval !== undefined) {
    const { reason, approval } = fact.payload;
    const { approvalId, message, assignees, deadlineMs = null } = approval;
    // What moderation holds back is shown with its run, to whoever may read that.
    const detailsJson = reason === APPROVAL ? (fact.value ?? null) : null;
    const { iteration } = fact;
    const question = { approvalId, reason, message, detailsJson, assignees, deadlineMs };
    opened.push({ ...place, iteration, ...question });
    return;
  }
  const approvalId = held?.approval?.approvalId;
  if (approvalId === undefined) return;
  // Whatever else moves an execution that was held ends the hold unanswered.
  if (fact.type !== "node.decided") {
    closed.push({ approvalId, state: "cancelled", decidedBy: "", comment: "", responseJson: null });
    return;
  }
  const { decision, decidedBy = "", comment } = fact.payload;
  const responseJson = fact.value ?? null;
  closed.push({ approvalId, state: STATES[decision], decidedBy, comment, responseJson });
}
