import { expect, test } from "vitest";
import { callIdOf, withCallId } from "./call-id.ts";

test("a call is named by a UUID, and by nothing else", () => {
  const callId = "0198c0de-0000-7000-8000-000000000001";
  expect(callIdOf(withCallId(callId))).toBe(callId);
  for (const other of ["", "x", `${callId}\u0000`, "y".repeat(5_000)])
    expect(callIdOf(withCallId(other))).toBeUndefined();
  expect(callIdOf({})).toBeUndefined();
});
