// An approval as clients see it.

import { create } from "@bufbuild/protobuf";
import {
  type Approval as WireApproval,
  ApprovalSchema,
  ApprovalState as WireState,
} from "@pawl/proto/pawl/v1/approval_pb";
import type { ApprovalRecord } from "../store/approvals/approvals.ts";
import type { ApprovalState } from "../store/approvals/approvals.ts";
import { toJsonBytes, toTimestamp } from "./scalar.ts";

const STATES: Readonly<Record<ApprovalState, WireState>> = {
  open: WireState.OPEN,
  approved: WireState.APPROVED,
  rejected: WireState.REJECTED,
  timed_out: WireState.TIMED_OUT,
  cancelled: WireState.CANCELLED,
};
const NAMES = new Map(Object.entries(STATES).map(([name, wire]) => [wire, name as ApprovalState]));

/** The state of a number on the wire; undefined for an unknown number. */
export const fromWireApprovalState = (state: WireState): ApprovalState | undefined =>
  NAMES.get(state);

/** The approval; `schemaJson` is the schema of its response. */
export function toWireApproval(approval: ApprovalRecord, schemaJson?: string): WireApproval {
  const wire = create(ApprovalSchema, {
    approvalId: approval.approvalId,
    runId: approval.runId,
    workflowId: approval.workflowId ?? "",
    nodeId: approval.nodeId,
    iteration: approval.iteration,
    reason: approval.reason,
    message: approval.message,
    detailsJson: toJsonBytes(approval.detailsJson ?? undefined),
    assignees: [...approval.assignees],
    state: STATES[approval.state],
    openTime: toTimestamp(approval.openedAt),
    decidedBy: approval.decidedBy,
    comment: approval.comment,
    responseJson: toJsonBytes(approval.responseJson ?? undefined),
    responseSchemaJson: toJsonBytes(schemaJson),
  });
  if (approval.deadlineAt !== null) wire.deadlineTime = toTimestamp(approval.deadlineAt);
  if (approval.closedAt !== null) wire.closeTime = toTimestamp(approval.closedAt);
  return wire;
}
