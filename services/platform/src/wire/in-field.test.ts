import { EngineError, invalidField } from "@pawl/core/fault/engine-error";
import { expect, test } from "vitest";
import { inField } from "./in-field.ts";

const refused = (error: unknown) =>
  inField("start", async () => {
    throw error;
  });

test("an error about a part names the whole path of the field and keeps its wait", async () => {
  await expect(
    refused(invalidField("priority", "OUT_OF_RANGE", "is too high")),
  ).rejects.toMatchObject({
    reason: "INPUT_INVALID",
    message: "start.priority: is too high",
    metadata: { field: "start.priority" },
    violations: [{ field: "start.priority", reason: "OUT_OF_RANGE" }],
  });
  const full = new EngineError("LIMIT_EXCEEDED", "too large", {
    metadata: { field: "input", limit: "inputBytes" },
    retryAfterMs: 5,
  });
  await expect(refused(full)).rejects.toMatchObject({
    message: "too large",
    metadata: { field: "start.input", limit: "inputBytes" },
    retryAfterMs: 5,
  });
});

test("errors without a field, answers, and other throws pass unchanged", async () => {
  const unknown = new EngineError("WORKFLOW_NOT_FOUND", "There is none.");
  await expect(refused(unknown)).rejects.toBe(unknown);
  await expect(refused("broken")).rejects.toBe("broken");
  expect(await inField("start", async () => 1)).toBe(1);
});
