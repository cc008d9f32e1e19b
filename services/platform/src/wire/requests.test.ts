import { create } from "@bufbuild/protobuf";
import { LIMITS } from "@pawl/core/data/limits";
import { EngineError } from "@pawl/core/fault/engine-error";
import { ApproveApprovalRequestSchema } from "@pawl/proto/pawl/v1/approval_service_pb";
import {
  CancelRunRequestSchema,
  DecideNodeRequestSchema,
  Decision,
  IdempotencyScope,
  StartRunRequestSchema,
} from "@pawl/proto/pawl/v1/run_service_pb";
import { MissedPolicy } from "@pawl/proto/pawl/v1/schedule_pb";
import { CreateScheduleRequestSchema } from "@pawl/proto/pawl/v1/schedule_service_pb";
import { CreateWorkflowRequestSchema } from "@pawl/proto/pawl/v1/workflow_service_pb";
import { expect, test } from "vitest";
import { parseAnswer, parseCreateWorkflow, parseDecision, parseStart } from "./requests.ts";
import { parseSaveSchedule } from "./schedule-requests.ts";
import { parseCancel } from "./cancel.ts";

const RUN = "0198c0de-0000-7000-8000-00000000000a";

/** The field that a call refuses, and why. */
function refused(call: () => unknown): string {
  try {
    call();
    return "nothing";
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    const [violation] = error.violations;
    return `${violation?.field} ${violation?.reason}`;
  }
}

test("a start becomes domain values; fields that the caller left out have their defaults", () => {
  expect(parseStart(create(StartRunRequestSchema, { workflowId: "orders" }))).toEqual({
    workflowId: "orders",
    version: 0,
    asked: {},
    input: "null",
    priority: 0,
    requestId: null,
    deadlineMs: undefined,
    sameInputMs: undefined,
  });
  const whole = create(StartRunRequestSchema, {
    workflowId: "orders",
    version: 3,
    inputJson: Buffer.from('{"n":1.0}'),
    priority: -5,
    requestId: "mine",
    deadline: { seconds: 2n },
    idempotency: { scope: IdempotencyScope.INPUT_HASH },
  });
  expect(parseStart(whole)).toEqual({
    workflowId: "orders",
    version: 3,
    asked: {},
    input: '{"n":1.0}',
    priority: -5,
    requestId: "mine",
    deadlineMs: 2_000,
    sameInputMs: LIMITS.inputKeyMs,
  });
});

test("a start names the field that breaks a rule", () => {
  const start = (over: object) => () =>
    parseStart(create(StartRunRequestSchema, { workflowId: "orders", ...over }));
  expect(refused(start({ workflowId: "a b" }))).toBe("workflow_id BAD_ID");
  expect(refused(start({ priority: 1_001 }))).toBe("priority OUT_OF_RANGE");
  expect(refused(start({ deadline: {} }))).toBe("deadline OUT_OF_RANGE");
  expect(refused(start({ idempotency: {} }))).toBe("idempotency.scope UNKNOWN_ENUM");
  const scope = IdempotencyScope.INPUT_HASH;
  expect(refused(start({ idempotency: { scope, ttl: { seconds: -1n } } }))).toBe(
    "idempotency.ttl OUT_OF_RANGE",
  );
  expect(refused(start({ inputJson: Buffer.from("{") }))).toBe("input_json JSON_SYNTAX");
});

test("commands about runs take ids in any case and refuse lines that cannot be printed", () => {
  const cancel = create(CancelRunRequestSchema, { runId: RUN.toUpperCase(), reason: "why" });
  expect(parseCancel(cancel)).toEqual({ runId: RUN, reason: "why", requestId: "" });
  const broken = create(CancelRunRequestSchema, { runId: RUN, reason: "a\nb" });
  expect(refused(() => parseCancel(broken))).toBe("reason NOT_PRINTABLE");
  const decide = { runId: RUN, nodeId: "n", iteration: 2 };
  const approve = create(DecideNodeRequestSchema, { ...decide, decision: Decision.APPROVE });
  expect(parseDecision(approve)).toMatchObject({ ...decide, decision: "approve" });
  expect(refused(() => parseDecision(create(DecideNodeRequestSchema, decide)))).toBe(
    "decision UNKNOWN_ENUM",
  );
});

test("a workflow may be named by its text, and has a text", () => {
  const named = create(CreateWorkflowRequestSchema, { definition: { text: "{}" }, strict: true });
  expect(parseCreateWorkflow(named)).toEqual({
    workflowId: "",
    text: "{}",
    isStrict: true,
    requestId: null,
  });
  expect(refused(() => parseCreateWorkflow(create(CreateWorkflowRequestSchema, {})))).toBe(
    "definition.text REQUIRED",
  );
});

test("an answer to an approval has a bound of its own, so that it fits the log with its comment (S2.34)", () => {
  const approvalId = "0199a000-0000-7000-8000-000000000001";
  const comment = '"'.repeat(LIMITS.labelLength);
  const answer = (bytes: number) =>
    parseAnswer(
      create(ApproveApprovalRequestSchema, {
        ...{ approvalId, comment, decidedBy: comment },
        responseJson: Buffer.from(`"${"x".repeat(bytes - 2)}"`),
      }),
    );
  const { response } = answer(LIMITS.approvalResponseBytes);
  expect(
    JSON.stringify({ comment, decidedBy: comment }).length + (response?.length ?? 0),
  ).toBeLessThan(LIMITS.valueBytes);
  expect(() => answer(LIMITS.approvalResponseBytes + 1)).toThrow(
    expect.objectContaining({
      reason: "LIMIT_EXCEEDED",
      metadata: { field: "response_json", limit: "approvalResponseBytes" },
    }),
  );
});

test("the input of a schedule has the bound of the log (S2.34)", () => {
  const save = (bytes: number) =>
    parseSaveSchedule(
      create(CreateScheduleRequestSchema, {
        scheduleId: "nightly",
        spec: {
          ...{ workflowId: "orders", expression: "0 1 * * *" },
          inputJson: Buffer.from(`"${"x".repeat(bytes - 2)}"`),
        },
      }),
    );
  expect(save(LIMITS.inputBytes).spec.input.length).toBe(LIMITS.inputBytes);
  expect(() => save(LIMITS.inputBytes + 1)).toThrow(
    expect.objectContaining({ reason: "LIMIT_EXCEEDED" }),
  );
});

test("a schedule names the field of its spec that breaks a rule", () => {
  const save = (spec: object) => () =>
    parseSaveSchedule(
      create(CreateScheduleRequestSchema, {
        scheduleId: "nightly",
        spec: { workflowId: "orders", expression: " 0 1 * * * ", ...spec },
      }),
    );
  expect(save({})().spec).toMatchObject({
    expression: "0 1 * * *",
    timeZone: "UTC",
    missed: "skip",
    overlap: "allow",
    input: "null",
  });
  expect(refused(save({ expression: " " }))).toBe("spec.expression REQUIRED");
  expect(refused(save({ expression: "*".repeat(9_999) }))).toBe("spec.expression TOO_LONG");
  expect(refused(save({ priority: 2_000 }))).toBe("spec.priority OUT_OF_RANGE");
  expect(refused(save({ missed: 99 as MissedPolicy }))).toBe("spec.missed UNKNOWN_ENUM");
  const twice = { inputJson: Buffer.from("1"), input: { kind: { case: "numberValue", value: 2 } } };
  expect(refused(save(twice))).toBe("input AMBIGUOUS");
  const none = create(CreateScheduleRequestSchema, { scheduleId: "nightly" });
  expect(refused(() => parseSaveSchedule(none))).toBe("spec REQUIRED");
});
