import { Code, ConnectError } from "@connectrpc/connect";
import { Metadata, status as Status } from "@grpc/grpc-js";
import { EngineError, invalidField } from "@pawl/core/fault/engine-error";
import { GRPC_CODES, NEXT_STEPS, REASONS, reasonRow, type Reason } from "@pawl/core/fault/reason";
import { BadRequestSchema, ResourceInfoSchema } from "@pawl/proto/google/rpc/error_details_pb";
import { ReasonSchema } from "@pawl/proto/pawl/errors/v1/reason_pb";
import { expect, test } from "vitest";

import {
  fromConnectError,
  fromGrpcStatus,
  toConnectError,
  toGrpcStatus,
  type OnInternal,
} from "./status.ts";

const refuse: OnInternal = ({ error }) => {
  throw new Error("not an internal fault", { cause: error });
};

const setup = () => {
  const faults: Parameters<OnInternal>[0][] = [];
  return { faults, onInternal: (fault: Parameters<OnInternal>[0]) => void faults.push(fault) };
};

const reasons = Object.keys(REASONS) as Reason[];

test("the reasons of the core are those of the contract", () => {
  const contract = ReasonSchema.values.map((value) => value.name.replace(/^REASON_/, ""));
  expect(reasons.toSorted()).toEqual(contract.filter((name) => name !== "UNSPECIFIED").toSorted());
});

test("the codes of the core are those of gRPC and of Connect", () => {
  for (const [name, code] of Object.entries(GRPC_CODES)) expect(Status[code]).toBe(name);
  for (const reason of reasons.filter((one) => one !== "INTERNAL")) {
    const code: number = toConnectError(new EngineError(reason, "x"), refuse).code;
    expect(code).toBe(GRPC_CODES[REASONS[reason].code]);
  }
});

test("every reason survives both transports with its metadata, violations and wait", () => {
  for (const reason of reasons.filter((one) => one !== "INTERNAL")) {
    const sent = new EngineError(reason, "it is so", {
      metadata: { run_id: "r-1", limit: "nodes" },
      violations: [{ field: "nodes[2].id", description: "is missing", reason: "REQUIRED" }],
      retryAfterMs: 1_250,
    });
    const overGrpc = fromGrpcStatus(toGrpcStatus(sent, refuse));
    const overConnect = fromConnectError(toConnectError(sent, refuse));
    const { message, metadata, violations } = sent;
    const retryAfterMs = sent.retryable ? sent.retryAfterMs : undefined;
    for (const received of [overGrpc, overConnect]) {
      expect(received).toMatchObject({ reason, message, metadata, violations, retryAfterMs });
    }
  }
});

test("only a retryable reason carries a time to wait, also without one from its thrower", () => {
  const received = fromGrpcStatus(toGrpcStatus(new EngineError("STORE_UNAVAILABLE", "x"), refuse));
  expect(received.retryAfterMs).toBe(1_000);
  const final = new EngineError("RUN_NOT_FOUND", "x", { retryAfterMs: 5 });
  expect(fromGrpcStatus(toGrpcStatus(final, refuse)).retryAfterMs).toBeUndefined();
});

test.each([
  ["RUN_NOT_FOUND", { run_id: "x", workflow_id: "w" }, "pawl.v1.run"],
  ["APPROVAL_NOT_FOUND", { approval_id: "x", run_id: "r" }, "pawl.v1.approval"],
  ["NODE_TYPE_NOT_FOUND", { node_type: "x" }, "pawl.v1.node_type"],
  ["NODE_NOT_FOUND", { run_id: "r", node_id: "x" }, "pawl.v1.node"],
  ["EXECUTOR_ID_TAKEN", { executor_id: "x" }, "pawl.v1.executor"],
  ["REQUEST_ID_REUSED", { workflow_id: "w", request_id: "x" }, "pawl.v1.request"],
  ["SERVICE_NOT_FOUND", { service: "x" }, "pawl.v1.service"],
  ["MEMORY_KEY_NOT_FOUND", { run_id: "r", memory_key: "x" }, "pawl.v1.memory_key"],
] as const)("ResourceInfo of %s names the resource by its own id", (reason, metadata, type) => {
  const error = new EngineError(reason, "no x", { metadata });
  const [detail] = toConnectError(error, refuse).findDetails(ResourceInfoSchema);
  expect(detail).toMatchObject({ resourceType: type, resourceName: "x" });
});

test("every reason whose code names a resource has one in the table, and every reason has a next step", () => {
  for (const reason of reasons) {
    const { code, resource } = reasonRow(reason);
    if (["NOT_FOUND", "ALREADY_EXISTS", "FAILED_PRECONDITION"].includes(code))
      expect(resource, reason).toBeDefined();
    expect(NEXT_STEPS[reason]).toMatch(/^[A-Z].*\.$/);
  }
});

test("an unknown throw becomes INTERNAL with a request id, and its cause is logged and never sent", () => {
  const { faults, onInternal } = setup();
  const thrown = new TypeError("password is hunter2");
  const sent = toGrpcStatus(thrown, onInternal);
  expect(sent.code).toBe(Status.INTERNAL);
  expect(JSON.stringify(sent.metadata.getMap())).not.toContain("hunter2");
  expect(sent.details).not.toContain("hunter2");
  expect(faults).toEqual([{ requestId: expect.any(String), error: thrown }]);
  expect(fromGrpcStatus(sent).metadata).toEqual({
    next: NEXT_STEPS.INTERNAL,
    origin_request_id: faults[0]?.requestId,
  });
});

test("a relayed internal error keeps the request id its origin logged", () => {
  const { faults, onInternal } = setup();
  const received = fromGrpcStatus(toGrpcStatus(new Error("bug"), onInternal));
  const relayed = fromConnectError(toConnectError(received, refuse));
  expect(relayed.metadata.origin_request_id).toBe(faults[0]?.requestId);
});

test("a message repeats at most 64 characters of input at a stretch", () => {
  const input = "a".repeat(10_000);
  for (const message of [`no node ${input}`, `no node "${"b ".repeat(5_000)}"`]) {
    const { details } = toGrpcStatus(new EngineError("NODE_NOT_FOUND", message), refuse);
    expect(details.length).toBeLessThanOrEqual(8 + 2 + 64);
    expect(details.startsWith("no node ")).toBe(true);
  }
});

test("details stay small enough for a trailer, whatever the number of violations", () => {
  const violations = Array.from({ length: 10_000 }, (_, index) => ({
    field: `nodes[${index}].${"x".repeat(1_000)}`,
    description: "y".repeat(1_000),
    reason: "TOO_LONG",
  }));
  const error = new EngineError("DEFINITION_INVALID", "many", { violations });
  const trailer = toGrpcStatus(error, refuse).metadata.get("grpc-status-details-bin")[0];
  expect(trailer?.length).toBeLessThan(8 * 1024);
  const [detail] = toConnectError(error, refuse).findDetails(BadRequestSchema);
  expect(detail?.fieldViolations.length).toBeGreaterThan(5);
});

test("half a surrogate pair in a message does not break the answer", () => {
  const { details } = toGrpcStatus(new EngineError("INPUT_INVALID", "bad \ud800"), refuse);
  expect(details.isWellFormed()).toBe(true);
});

test("a foreign status is taken for the nearest reason", () => {
  const received = (code: Status) =>
    fromGrpcStatus({ code, details: "x", metadata: new Metadata() }).reason;
  expect(received(Status.UNAVAILABLE)).toBe("SCHEDULER_UNAVAILABLE");
  expect(received(Status.DEADLINE_EXCEEDED)).toBe("DEADLINE_PASSED");
  expect(received(Status.RESOURCE_EXHAUSTED)).toBe("LIMIT_EXCEEDED");
  expect(received(Status.UNKNOWN)).toBe("INTERNAL");
});

test("a malformed binary body is the caller's fault", () => {
  const error = new ConnectError("parse binary: premature EOF", Code.Internal);
  expect(fromConnectError(error).reason).toBe("INPUT_INVALID");
});

test("garbled details do not hide the code", () => {
  const metadata = new Metadata();
  metadata.set("grpc-status-details-bin", Buffer.from([255, 255, 255]));
  const error = fromGrpcStatus({ code: Status.NOT_FOUND, details: "x", metadata });
  expect(error.reason).toBe("INTERNAL");
});

test("a violation made for one field reads the same on the other side", () => {
  const received = fromGrpcStatus(
    toGrpcStatus(invalidField("page_size", "NEGATIVE", "must not be negative"), refuse),
  );
  expect(received.violations).toEqual([
    { field: "page_size", reason: "NEGATIVE", description: "must not be negative" },
  ]);
});
