import { EMPTY_VIEW } from "@pawl/core/log/view";
import { expect, test } from "vitest";
import { usageText } from "./usage-text.ts";

test("a run shows what it used beside its limits, and what running nodes reserve (S2.20, S2.21)", () => {
  const usage = { inputTokens: 20, outputTokens: 30, costMicros: 20_000 };
  const spending = { usage, executions: 2, budget: undefined };
  const none = { tokens: 0, costMicros: 0, executions: 0 };
  expect(usageText({ ...EMPTY_VIEW, spending: { ...spending, reserved: none } })).toBe(
    "50 tokens, $0.02",
  );
  const budget = { tokens: 500, executions: 9, onExceeded: "pause" } as const;
  const reserved = { tokens: 100, costMicros: 0, executions: 1 };
  expect(usageText({ ...EMPTY_VIEW, spending: { ...spending, budget, reserved } })).toBe(
    "50 of 500 tokens (100 reserved), $0.02, 2 of 9 node executions (1 reserved)",
  );
});
