import { expect, test } from "vitest";
import { ChildRun, Expansion, Question } from "../handlers/handler.ts";
import { causeOf, failed, returned, thrown, type WireResult } from "./outcome.ts";

const outputOf = (result: WireResult): string =>
  result.case === "completed" ? Buffer.from(result.value.outputJson ?? []).toString() : "";

test("a failure by a limit of the handler's own names that limit", () => {
  const failure = { cause: "timeout", message: "late", permanent: false, timeoutMs: 50 };
  expect(returned({ failed: failure })).toMatchObject({ value: { timeoutMs: 50n } });
  expect(failed("timeout", "late")).toMatchObject({ value: { timeoutMs: 0n } });
});

test("a returned output becomes JSON, with its handle and delay", () => {
  const result = returned({ output: { a: [1, "ü"] }, handle: "yes", queueDelayMs: 5 });
  expect(outputOf(result)).toBe('{"a":[1,"ü"]}');
  expect(result).toMatchObject({ case: "completed", value: { handle: "yes", queueDelayMs: 5n } });
  expect(outputOf(returned({ output: undefined }))).toBe("null");
});

const circular: Record<string, unknown> = {};
circular["self"] = circular;

test("an instruction whose data cannot be stored fails with a cause (S13)", () => {
  const deep: unknown = JSON.parse("[".repeat(100) + "]".repeat(100));
  expect(causeOf(returned(new Expansion([deep])))).toBe("output_invalid");
  expect(causeOf(returned(new Expansion([circular])))).toBe("provider_error");
  const child = { workflowId: "w", version: 0, input: "\u0000" };
  expect(causeOf(returned(new ChildRun(child)))).toBe("output_invalid");
  const question = { message: "ok?", details: deep, assignees: [], deadlineMs: 0 };
  expect(causeOf(returned(new Question(question)))).toBe("output_invalid");
});

test("whatever is thrown is a provider error with a message (S13, S1.29)", () => {
  expect(thrown(new TypeError("bad"))).toMatchObject({
    case: "failed",
    value: { cause: "provider_error", message: "TypeError: bad", permanent: false },
  });
});

test("a failure holds the wait before the next call, and a success the tokens of a model (S1.58)", () => {
  const busy = { cause: "rate_limit", message: "later", permanent: false };
  expect(returned({ failed: { ...busy, retryAfterMs: 1_500.2 } })).toMatchObject({
    value: { retryAfterMs: 1_501n },
  });
  expect(returned({ output: 1, usage: { inputTokens: 3, outputTokens: -1 } })).toMatchObject({
    value: { usage: { inputTokens: 3n, outputTokens: 0n } },
  });
});

test("details that cannot be stored are left out, and long messages are cut", () => {
  const result = failed("provider_error", "m".repeat(10_000), { details: circular });
  expect(result.case === "failed" && result.value.detailsJson).toBeUndefined();
  expect(result.case === "failed" && result.value.message?.length).toBe(2_000);
});
