// An approval as clients see it.

import { create } from "@bufbuild/protobuf";
import {
  type Approval as WireApproval,
  ApprovalSchema,
  ApprovalState as WireState,
} from "@pawl/proto/pawl/v1/approval_pb";
import type { ApprovalRecord, ApprovalState } from "../store/approvals/approvals.ts";
import { namesOf } from "./enum.ts";
import { toJsonBytes, toTimestamp, toTimestampOrNone } from "./scalar.ts";

const states = namesOf(WireState);

export const fromWireApprovalState: (state: number) => ApprovalState | undefined = states.nameOf;

/** The approval. `schemaJson` is the schema of its response. */
export const toWireApproval = (approval: ApprovalRecord, schemaJson?: string): WireApproval =>
  create(ApprovalSchema, {
    approvalId: approval.approvalId,
    runId: approval.runId,
    workflowId: approval.workflowId ?? "",
    nodeId: approval.nodeId,
    iteration: approval.iteration,
    reason: approval.reason,
    message: approval.message,
    detailsJson: toJsonBytes(approval.detailsJson),
    assignees: [...approval.assignees],
    state: states.values[approval.state],
    openTime: toTimestamp(approval.openedAt),
    decidedBy: approval.decidedBy,
    comment: approval.comment,
    responseJson: toJsonBytes(approval.responseJson),
    responseSchemaJson: toJsonBytes(schemaJson),
    deadlineTime: toTimestampOrNone(approval.deadlineAt),
    closeTime: toTimestampOrNone(approval.closedAt),
  });
