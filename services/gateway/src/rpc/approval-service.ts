// ApprovalService at the edge: what waits for people is read from its table, answers are checked and forwarded.

import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { LIMITS } from "@pawl/core/data/limits";
import { EngineError, invalidField } from "@pawl/core/fault/engine-error";
import { approvalId, type ApprovalId, isUuid } from "@pawl/core/name/ids";
import type {
  ApprovalFilter,
  ApprovalPage,
  ApprovalRecord,
} from "@pawl/platform/store/approvals/approvals";
import { fromWireApprovalState, toWireApproval } from "@pawl/platform/wire/approval";
import {
  type ApprovalService,
  type ApproveApprovalRequest,
  GetApprovalResponseSchema,
  type ListApprovalsRequest,
  ListApprovalsResponseSchema,
  type RejectApprovalRequest,
} from "@pawl/proto/pawl/v1/approval_service_pb";
import { forwardOptions, type Scheduler } from "../request/forward.ts";
import {
  checkLine,
  checkName,
  checkPageSize,
  checkRequestId,
  checkRunId,
  checkValue,
} from "../request/ingress.ts";

export interface ApprovalServiceDeps {
  readonly scheduler: Scheduler;
  readonly getApproval: (id: ApprovalId) => Promise<ApprovalRecord | undefined>;
  readonly listApprovals: (
    filter: ApprovalFilter,
    page: { size: number; token: string },
  ) => Promise<ApprovalPage>;
  /** How its response must look, as JSON text. */
  readonly schemaOf: (approval: ApprovalRecord) => Promise<string | undefined>;
}

const PAGE = { default: LIMITS.pageSize, max: LIMITS.pageSizeMax } as const;

export const createApprovalService = (
  deps: ApprovalServiceDeps,
): ServiceImpl<typeof ApprovalService> => ({
  listApprovals: async (request) => {
    const size = checkPageSize(request.pageSize, PAGE);
    const page = await deps.listApprovals(filterOf(request), { size, token: request.pageToken });
    return create(ListApprovalsResponseSchema, {
      approvals: page.approvals.map((approval) => toWireApproval(approval)),
      nextPageToken: page.nextPageToken,
    });
  },
  getApproval: async (request) => {
    const id = checkApprovalId(request.approvalId);
    const approval = await deps.getApproval(id);
    if (approval === undefined)
      throw new EngineError("APPROVAL_NOT_FOUND", `There is no approval ${id}.`, {
        metadata: { approval_id: id },
      });
    const schemaJson = await deps.schemaOf(approval);
    return create(GetApprovalResponseSchema, { approval: toWireApproval(approval, schemaJson) });
  },
  approveApproval: (request, context) => {
    checkAnswer(request);
    return deps.scheduler.approvals.approveApproval(request, forwardOptions(context));
  },
  rejectApproval: (request, context) => {
    checkAnswer(request);
    return deps.scheduler.approvals.rejectApproval(request, forwardOptions(context));
  },
});

/** Checks what both answers have, and gives the request an id. @throws INPUT_INVALID, LIMIT_EXCEEDED */
function checkAnswer(request: ApproveApprovalRequest | RejectApprovalRequest): void {
  request.approvalId = checkApprovalId(request.approvalId);
  checkLine("comment", request.comment, LIMITS.labelLength);
  checkLine("decided_by", request.decidedBy, LIMITS.labelLength);
  if (request.responseJson.length === 0 && request.response !== undefined)
    request.responseJson = checkValue("response", request.response);
  delete request.response;
  request.requestId = checkRequestId(request.requestId);
}

function checkApprovalId(text: string): ApprovalId {
  const canonical = text.toLowerCase();
  if (!isUuid(canonical)) throw invalidField("approval_id", "BAD_ID", "must be a UUID");
  return approvalId(canonical);
}

function filterOf(request: ListApprovalsRequest): ApprovalFilter {
  if (request.workflowId !== "") checkName("workflow_id", request.workflowId);
  return {
    states: request.states.map((state, index) => {
      const known = fromWireApprovalState(state);
      if (known === undefined)
        throw invalidField(`states[${index}]`, "UNKNOWN_ENUM", "is not a state");
      return known;
    }),
    workflowId: request.workflowId,
    assignee: checkLine("assignee", request.assignee, LIMITS.labelLength),
    runId: request.runId === "" ? undefined : checkRunId(request.runId),
  };
}
