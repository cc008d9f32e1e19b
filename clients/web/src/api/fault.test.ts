import { Code } from "@connectrpc/connect";
import { PawlError } from "@pawl/client";
import { expect, test } from "vitest";
import { readFault, violationText } from "./fault.ts";

test("an error is shown with its reason, every violation and what to do next", () => {
  const violations = [
    { path: "input.name", reason: "REQUIRED", message: "is missing" },
    { path: "", reason: "X", message: "is odd" },
  ];
  const thrown = new PawlError("INPUT_INVALID", "two faults", {
    code: Code.InvalidArgument,
    violations,
    metadata: { next: "Correct the input and try again." },
  });
  expect(readFault(thrown)).toEqual({
    reason: "INPUT_INVALID",
    message: "two faults",
    next: "Correct the input and try again.",
    violations,
    retryable: false,
  });
  expect(violations.map(violationText)).toEqual(["input.name: is missing", "is odd"]);
});

test("the fault of a gateway that does not answer is in words and can be retried", () => {
  expect(readFault(new TypeError("Failed to fetch"))).toMatchObject({
    reason: "UNREACHABLE",
    message: "The gateway does not answer.",
    retryable: true,
  });
});
