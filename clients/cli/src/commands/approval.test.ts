import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import { jsonBytes, jsonTextOf } from "@pawl/client";
import { scriptedFailure } from "@pawl/client/scripted-gateway";
import { BadRequestSchema } from "@pawl/proto/google/rpc/error_details_pb";
import { ApprovalState } from "@pawl/proto/pawl/v1/approval_pb";
import type {
  ApproveApprovalRequest,
  ListApprovalsRequest,
  RejectApprovalRequest,
} from "@pawl/proto/pawl/v1/approval_service_pb";
import { ExplainReason } from "@pawl/proto/pawl/v1/explain_pb";
import { NodeStatus } from "@pawl/proto/pawl/v1/run_pb";
import { expect, test } from "vitest";
import { setup } from "./scripted-host.fixture.ts";

const ID = "019a8b3e-2222-7000-8000-000000000002";
const RUN = "019a8b3e-1111-7000-8000-000000000001";
const SCHEMA = { type: "object", required: ["amount"] };
const OPEN = {
  approvalId: ID,
  runId: RUN,
  workflowId: "refund",
  nodeId: "ask",
  reason: "approval",
  message: "Refund 480 EUR?\u001b[2J",
  state: ApprovalState.OPEN,
  assignees: ["finance"],
  openTime: timestampFromDate(new Date("2026-01-01T00:00:00.5Z")),
  deadlineTime: timestampFromDate(new Date("2026-01-02T00:00:00Z")),
  detailsJson: jsonBytes({ order: "A-1" }),
};
const ASKED = { ...OPEN, responseSchemaJson: jsonBytes(SCHEMA) };

test("open approvals are listed with question, assignees and deadline; other states when they are named", async () => {
  const asked: ListApprovalsRequest[] = [];
  const { gateway, printed, pawl } = await setup({
    approvals: {
      listApprovals(request) {
        asked.push(request);
        const isOpen = request.states.includes(ApprovalState.OPEN);
        return { approvals: isOpen ? [OPEN] : [], nextPageToken: isOpen ? "next" : "" };
      },
    },
  });
  await using _ = gateway;
  expect(await pawl("approval", "list", "--workflow", "refund", "--assignee", "finance")).toBe(0);
  expect(asked[0]).toMatchObject({ states: [ApprovalState.OPEN], workflowId: "refund" });
  expect(asked[0]).toMatchObject({ runId: "", assignee: "finance" });
  expect(printed.out.split(/\s{2,}|\n/)).toEqual(
    expect.arrayContaining([ID, "open", "2026-01-02T00:00:00Z", "refund", "ask", RUN]),
  );
  // Its control characters do not reach the terminal.
  expect(printed.out).toContain("Refund 480 EUR?[2J");
  expect(printed.out).toContain("--page-token next");
  expect(await pawl("approval", "list", "--state", "approved", "rejected")).toBe(0);
  expect(await pawl("approval", "list", "--all", "-o", "json")).toBe(0);
  expect(asked.slice(1).map(({ states }) => states)).toEqual([
    [ApprovalState.APPROVED, ApprovalState.REJECTED],
    [],
  ]);
  expect(printed.out).toContain('No approvals.\n{"approvals":[],"nextPageToken":""}\n');
  expect(await pawl("approval", "list", "--state", "maybe")).toBe(2);
  expect(asked).toHaveLength(3);
});

test("one approval is shown with its details, its schema and how to answer it", async () => {
  const { gateway, printed, pawl } = await setup({
    approvals: { getApproval: () => ({ approval: ASKED }) },
  });
  await using _ = gateway;
  expect(await pawl("approval", "get", ID)).toBe(0);
  expect(printed.out).toContain(`by: refund, run ${RUN}, node ask\n  for: finance\n`);
  expect(printed.out).toContain('details: {"order":"A-1"}');
  expect(printed.out).toContain('    {\n      "type": "object",');
  expect(printed.out).toContain(`→ pawl approval approve ${ID} --response '…', or reject`);
  printed.out = "";
  expect(await pawl("approval", "get", ID, "-o", "json")).toBe(0);
  expect(JSON.parse(printed.out)).toMatchObject({
    approvalId: ID,
    state: "open",
    details: { order: "A-1" },
    responseSchema: SCHEMA,
  });
});

test("answers go with response, comment and name, the response to the letter", async () => {
  const answers: (ApproveApprovalRequest | RejectApprovalRequest)[] = [];
  const { gateway, printed, pawl } = await setup({
    approvals: {
      approveApproval(request) {
        answers.push(request);
        const { responseJson, decidedBy, comment } = request;
        const answered = { responseJson, decidedBy, comment, state: ApprovalState.APPROVED };
        return { approval: { ...OPEN, ...answered } };
      },
      rejectApproval(request) {
        answers.push(request);
        return { approval: { ...OPEN, state: ApprovalState.REJECTED } };
      },
    },
  });
  await using _ = gateway;
  const response = '{"amount": 5.0}';
  const words = ["--comment", "once", "--by", "ada"];
  expect(await pawl("approval", "approve", ID, "--response", response, ...words)).toBe(0);
  expect(await pawl("approval", "reject", ID, "--request-id", "r-1", "-o", "json")).toBe(0);
  expect(answers).toMatchObject([
    { approvalId: ID, comment: "once", decidedBy: "ada" },
    { approvalId: ID, comment: "", decidedBy: "", requestId: "r-1" },
  ]);
  expect(answers.map(({ responseJson }) => jsonTextOf(responseJson))).toEqual([
    response,
    undefined,
  ]);
  expect(printed.out).toContain(`${ID} approved`);
  expect(printed.out).toContain("answered by: ada");
  expect(printed.out).toContain('"state":"rejected"');
  expect(await pawl("approval", "approve", ID, "--response", "{amount")).toBe(2);
  expect(printed.error).toContain("--response is not JSON");
  expect(answers).toHaveLength(2);
});

test("a response that does not fit is refused with the path at fault and the schema", async () => {
  const fieldViolations = [
    { field: "response_json.amount", reason: "CONTRACT_VIOLATION", description: "must be <= 100" },
  ];
  const detail = { desc: BadRequestSchema, value: { fieldViolations } };
  const { gateway, printed, pawl } = await setup({
    approvals: {
      approveApproval() {
        throw scriptedFailure(Code.InvalidArgument, "INPUT_INVALID", "it does not fit", [detail]);
      },
      getApproval: () => ({ approval: ASKED }),
    },
  });
  await using _ = gateway;
  expect(await pawl("approval", "approve", ID, "--response", '{"amount": 101}')).toBe(2);
  expect(printed.out).toBe("");
  expect(printed.error).toContain("nothing was changed\n  response.amount: must be <= 100");
  expect(printed.error).toContain('      "type": "object",');
});

test("the error for a closed or unknown approval says where to look", async () => {
  const { gateway, printed, pawl } = await setup({
    approvals: {
      rejectApproval() {
        throw scriptedFailure(Code.FailedPrecondition, "APPROVAL_CLOSED", "it has ended");
      },
      getApproval() {
        throw scriptedFailure(Code.NotFound, "APPROVAL_NOT_FOUND", "there is none");
      },
    },
  });
  await using _ = gateway;
  expect(await pawl("approval", "reject", ID)).toBe(3);
  expect(printed.error).toContain("pawl approval get APPROVAL_ID");
  expect(await pawl("approval", "get", ID)).toBe(3);
  expect(printed.error).toContain("pawl approval list --all");
});

test("explain names the command that answers an approval, as this one is called", async () => {
  const explanation = {
    reason: ExplainReason.WAITING_PERSON,
    status: NodeStatus.WAITING,
    summary: "It waits for a person to answer approval a1 (approval); it has no deadline.",
    next: "Answer it: pawl approval approve a1, or reject.",
  };
  const { gateway, printed, pawl } = await setup({
    runs: { explainNode: () => ({ explanation }) },
  });
  await using _ = gateway;
  expect(await pawl("run", "explain", RUN, "ask")).toBe(0);
  expect(printed.out).toContain("→ Answer it: pawl approval approve a1, or reject.\n");
  expect(printed.out).not.toContain("run decide");
});
