import { Code, ConnectError } from "@connectrpc/connect";
import {
  BadRequestSchema,
  RequestInfoSchema,
  RetryInfoSchema,
} from "@pawl/proto/google/rpc/error_details_pb";
import { expect, test } from "vitest";
import { PawlError, pawlErrorFrom } from "./errors.ts";
import { scriptedFailure } from "./scripted-gateway.fixture.ts";

test("the reason, the violations and the code come from the error details", () => {
  const thrown = scriptedFailure(Code.InvalidArgument, "DEFINITION_INVALID", "2 rules broken", [
    {
      desc: BadRequestSchema,
      value: {
        fieldViolations: [
          { field: "edges[0].target", reason: "DANGLING_EDGE", description: "no node b" },
          { field: "nodes[1].id", reason: "DUPLICATE_ID", description: "a is taken" },
        ],
      },
    },
  ]);
  const error = pawlErrorFrom(thrown);
  expect(error.reason).toBe("DEFINITION_INVALID");
  expect(error.code).toBe(Code.InvalidArgument);
  expect(error.retryable).toBe(false);
  expect(error.violations).toEqual([
    { path: "edges[0].target", reason: "DANGLING_EDGE", message: "no node b" },
    { path: "nodes[1].id", reason: "DUPLICATE_ID", message: "a is taken" },
  ]);
});

test("the time to wait and the request id come from the error details", () => {
  const error = pawlErrorFrom(
    scriptedFailure(Code.ResourceExhausted, "OVERLOADED", "later", [
      { desc: RetryInfoSchema, value: { retryDelay: { seconds: 2n, nanos: 500_000_000 } } },
      { desc: RequestInfoSchema, value: { requestId: "r-1" } },
    ]),
  );
  expect(error.retryAfterMs).toBe(2500);
  expect(error.requestId).toBe("r-1");
  expect(error.retryable).toBe(true);
});

test("a reason this client does not know is passed on as the server spelled it", () => {
  const error = pawlErrorFrom(scriptedFailure(Code.FailedPrecondition, "MOON_IN_THE_WAY", "no"));
  expect(error.reason).toBe("UNRECOGNISED");
  expect(error.serverReason).toBe("MOON_IN_THE_WAY");
});

test("a refused or reset connection and a failed fetch are UNREACHABLE and may be retried", () => {
  const refused = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
  const thrown = [
    new ConnectError("refused", Code.Unavailable),
    new ConnectError("reset", Code.Aborted),
    new ConnectError("socket", Code.Internal, undefined, undefined, refused),
    new TypeError("fetch failed", { cause: refused }),
  ];
  for (const one of thrown) {
    const error = pawlErrorFrom(one);
    expect([error.reason, error.retryable]).toEqual(["UNREACHABLE", true]);
  }
});

test("a PawlError stays what it is", () => {
  const error = new PawlError("RUN_NOT_FOUND", "no such run");
  expect(pawlErrorFrom(error)).toBe(error);
});
