// ApprovalService at the gateway: reads approvals from their table, checks answers and forwards them.

import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { approvalRules } from "@pawl/core/definition/approval-config";
import { EngineError } from "@pawl/core/fault/engine-error";
import { DEFAULT_TENANT } from "@pawl/core/name/tenant";
import type { ApprovalFilter, ApprovalRecord } from "@pawl/platform/store/approvals/approvals";
import { getApproval, listApprovals } from "@pawl/platform/store/approvals/reads";
import { getRuns } from "@pawl/platform/store/runs/reads";
import { fromWireApprovalState, toWireApproval } from "@pawl/platform/wire/approval";
import { approvalIdOf, lineOf, optionalName, runIdOf, valuesOf } from "@pawl/platform/wire/fields";
import { parseAnswer } from "@pawl/platform/wire/requests";
import { toJsonBytes } from "@pawl/platform/wire/scalar";
import {
  type ApprovalService,
  type ApproveApprovalRequest,
  GetApprovalResponseSchema,
  type ListApprovalsRequest,
  ListApprovalsResponseSchema,
  type RejectApprovalRequest,
} from "@pawl/proto/pawl/v1/approval_service_pb";
import { forwarded } from "../request/forward.ts";
import type { ServiceParts } from "./service-parts.ts";

export const createApprovalService = (parts: ServiceParts): ServiceImpl<typeof ApprovalService> => {
  const { pool, pages, scheduler } = parts;
  return {
    listApprovals: async (request) => {
      const filter = filterOf(request);
      const { rows, nextPageToken } = await pages.page(request, (page) =>
        listApprovals(pool, DEFAULT_TENANT, filter, page),
      );
      const wire = rows.map((approval) => toWireApproval(approval));
      return create(ListApprovalsResponseSchema, { approvals: wire, nextPageToken });
    },
    getApproval: async (request) => {
      const id = approvalIdOf(request.approvalId);
      const approval = await getApproval(pool, DEFAULT_TENANT, id);
      if (approval === undefined)
        throw new EngineError("APPROVAL_NOT_FOUND", `There is no approval ${id}.`, {
          metadata: { approval_id: id },
        });
      const schemaJson = await schemaOf(parts, approval);
      return create(GetApprovalResponseSchema, { approval: toWireApproval(approval, schemaJson) });
    },
    approveApproval: forwarded(scheduler.approvals.approveApproval, sendAnswer),
    rejectApproval: forwarded(scheduler.approvals.rejectApproval, sendAnswer),
  };
};

/** The schema of an approval's response, as JSON text. */
async function schemaOf(
  { pool, definitions }: ServiceParts,
  { runId, nodeId, iteration }: ApprovalRecord,
): Promise<string | undefined> {
  const [run] = await getRuns(pool, DEFAULT_TENANT, [runId]);
  if (run === undefined) return undefined;
  const definition = await definitions.executionOf(run.definitionId, nodeId, iteration);
  if (definition === undefined) return undefined;
  const { responseSchema } = approvalRules(definition);
  return responseSchema === undefined ? undefined : JSON.stringify(responseSchema);
}

/** Parses an answer. The gateway sends a response that came as a Value as JSON. @throws INPUT_INVALID, LIMIT_EXCEEDED */
function sendAnswer(request: ApproveApprovalRequest | RejectApprovalRequest): void {
  request.responseJson = toJsonBytes(parseAnswer(request).response);
  delete request.response;
}

function filterOf(request: ListApprovalsRequest): ApprovalFilter {
  optionalName("workflow_id", request.workflowId);
  return {
    states: valuesOf("states", "a state", request.states, fromWireApprovalState),
    workflowId: request.workflowId,
    assignee: lineOf("assignee", request.assignee),
    runId: request.runId === "" ? undefined : runIdOf(request.runId),
  };
}
