import { expect, test } from "vitest";
import { jobHintPayload, parseJobHints } from "./jobs.ts";

test("a hint names the earliest job of each type", () => {
  const payload = jobHintPayload("a", [
    { nodeType: "http", delayMs: 500 },
    { nodeType: "noop" },
    { nodeType: "http", delayMs: 200 },
  ]);
  expect(parseJobHints(payload, "b")).toEqual([
    { nodeType: "http", delayMs: 200 },
    { nodeType: "noop", delayMs: 0 },
  ]);
});

test("a scheduler ignores its own hints and hints that it cannot read", () => {
  expect(parseJobHints(jobHintPayload("a", [{ nodeType: "noop" }]), "a")).toEqual([]);
  expect(parseJobHints("b nonsense,@5,x@y", "a")).toEqual([]);
});
