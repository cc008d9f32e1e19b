import { createRouterTransport } from "@connectrpc/connect";
import { ApprovalState } from "@pawl/proto/pawl/v1/approval_pb";
import {
  ApprovalService,
  type ApproveApprovalRequest,
  type RejectApprovalRequest,
} from "@pawl/proto/pawl/v1/approval_service_pb";
import { expect, test } from "vitest";
import { createPawlClient } from "./client.ts";
import { jsonOf, jsonTextOf } from "./json.ts";

test("an answer goes with its response to the letter, or with none", async () => {
  const answers: (ApproveApprovalRequest | RejectApprovalRequest)[] = [];
  const transport = createRouterTransport(({ service }) => {
    service(ApprovalService, {
      approveApproval: (request) => {
        answers.push(request);
        const { approvalId } = request;
        return { approval: { approvalId, state: ApprovalState.APPROVED } };
      },
      rejectApproval: (request) => {
        answers.push(request);
        const { approvalId } = request;
        return { approval: { approvalId, state: ApprovalState.REJECTED } };
      },
    });
  });
  const { approvals } = createPawlClient({ transport });
  const responseJson = '{"amount": 5.0}';
  const approved = await approvals.approve("a", { responseJson, decidedBy: "ada" });
  expect(approved.state).toBe(ApprovalState.APPROVED);
  await approvals.approve("a", { response: { amount: 5 } });
  const rejected = await approvals.reject("b", { comment: "no" });
  expect(rejected.state).toBe(ApprovalState.REJECTED);
  expect(answers.map((request) => jsonTextOf(request.responseJson))).toEqual([
    responseJson,
    '{"amount":5}',
    undefined,
  ]);
  expect(answers).toMatchObject([{ decidedBy: "ada" }, {}, { approvalId: "b", comment: "no" }]);
  expect(new Set(answers.map(({ requestId }) => requestId)).size).toBe(3);
});

test("approvals come by page, and one by one with the schema of the response", async () => {
  const transport = createRouterTransport(({ service }) => {
    service(ApprovalService, {
      listApprovals: ({ states, assignee, pageToken }) => ({
        approvals: [{ approvalId: `${states.join()} ${assignee} ${pageToken}` }],
        nextPageToken: "more",
      }),
      getApproval: ({ approvalId }) => ({
        approval: { approvalId, responseSchemaJson: new TextEncoder().encode('{"type":"object"}') },
      }),
    });
  });
  const { approvals } = createPawlClient({ transport });
  const states = [ApprovalState.OPEN];
  const page = await approvals.list({ states, assignee: "finance", pageToken: "t" });
  expect(page).toMatchObject({ approvals: [{ approvalId: "1 finance t" }], nextPageToken: "more" });
  const one = await approvals.get("a");
  expect(jsonOf(one.responseSchemaJson)).toEqual({ type: "object" });
});
