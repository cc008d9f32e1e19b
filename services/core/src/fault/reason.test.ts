import { expect, test } from "vitest";
import { EngineError, invalidField } from "./engine-error.ts";
import { GRPC_CODES, isReason, REASONS, type Reason } from "./reason.ts";

test("every reason has a gRPC code, and only faults that may pass by themselves are retryable", () => {
  const rows = Object.entries(REASONS);
  for (const [reason, { code }] of rows) {
    expect(reason).toMatch(/^[A-Z][A-Z_]+$/);
    expect(GRPC_CODES[code]).toBeGreaterThan(0);
  }
  const retryable = rows.filter(([, row]) => row.retryable).map(([, row]) => row.code);
  for (const code of retryable)
    expect(["ABORTED", "RESOURCE_EXHAUSTED", "UNAVAILABLE"]).toContain(code);
});

test("a stale claim is fatal at once (S0.44)", () => {
  expect(new EngineError("STALE_CLAIM", "taken over").retryable).toBe(false);
  expect(REASONS.STALE_CLAIM.code).toBe("ABORTED");
});

test("isReason accepts a reason and no other text", () => {
  const known: Reason = "RUN_NOT_FOUND";
  expect(isReason(known)).toBe(true);
  for (const text of ["toString", "run_not_found", ""]) expect(isReason(text)).toBe(false);
});

test("an invalid field names itself for people and machines", () => {
  const error = invalidField("run_id", "BAD_ID", "not a UUID");
  expect(error).toMatchObject({
    reason: "INPUT_INVALID",
    message: "run_id: not a UUID",
    violations: [{ field: "run_id", reason: "BAD_ID", description: "not a UUID" }],
  });
});
