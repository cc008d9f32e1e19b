import { expect, test } from "vitest";
import { LIMITS } from "../data/limits.ts";
import { ACTION_TYPES, parseActions } from "./action.ts";
import { fromShape, toShape } from "./shape.ts";

const update = (valuesJson: string) => ({ type: "update_memory", valuesJson });
const goto = { type: "goto_node", node: "next", reason: "" };
const status = { type: "set_status", status: "failed", message: "", outputJson: "" };
const handoff = {
  ...{ type: "handoff", node: "", workflow: "billing", version: 0, inputJson: "" },
  reason: "",
};
const ask = {
  ...{ type: "request_human_input", message: "Ship it?", detailsJson: "", assignees: [] },
  deadlineMs: 60_000,
};
const answer = {
  ...{ type: "resume_from_human", node: "review", iteration: 0, approvalId: "" },
  ...{ decision: "approve", responseJson: "", comment: "" },
};
const merge = {
  ...{ type: "merge_parallel_results", keys: ["a"], nodes: [], into: "all" },
  strategy: "array",
};
const ONE_OF_EACH = [update("{}"), status, goto, handoff, ask, answer, merge];

test("the seven actions parse, and cross the protocols unchanged (S2.37)", () => {
  expect(ONE_OF_EACH.map(({ type }) => type)).toEqual(ACTION_TYPES);
  for (const action of ONE_OF_EACH) {
    const parsed = parseActions([action]);
    if (!parsed.ok) throw new Error(parsed.message);
    expect(parsed.actions).toEqual([action]);
    expect(parsed.actions.map(toShape).map(fromShape)).toEqual([action]);
  }
});

test.each(["fly", "", "constructor", "Update_Memory"])(
  "the unknown action %j is refused with the known ones (S2.38)",
  (type) => {
    const parsed = parseActions([{ type }]);
    expect(parsed).toMatchObject({ ok: false, cause: "action_invalid" });
    expect(parsed.ok ? "" : parsed.message).toContain(ACTION_TYPES.join(", "));
  },
);

test.each(["_fail", "_init", "_budget_exceeded"])(
  "a handler cannot send %s, which is the engine's own (S2.39)",
  (type) => {
    const parsed = parseActions([fromShape({ action: { case: "unknown", value: type } })]);
    expect(parsed).toMatchObject({ ok: false, cause: "action_invalid" });
    expect(parsed.ok ? "" : parsed.message).toContain("the engine's own");
  },
);

test("an action without a message of this build is refused, not skipped (S2.38)", () => {
  expect(parseActions([fromShape({ action: { case: undefined } })])).toMatchObject({ ok: false });
});

test.each([
  ["a prototype", '{"__proto__":1}'],
  ["a constructor", '{"constructor":1}'],
  ["an inherited name", '{"toString":1}'],
  ["a dot", '{"a.b":1}'],
  ["an empty key", '{"":1}'],
  ["a list", "[1]"],
  ["NaN", '{"a":NaN}'],
  ["half a pair", '{"a":"\\ud800"}'],
  ["the same key twice", '{"a":1,"a":2}'],
])("memory with %s is refused (S2.37)", (_what, json) => {
  expect(parseActions([update(json)])).toMatchObject({ ok: false, cause: "action_invalid" });
});

test("values over the limit are memory_too_large, in one action and in all", () => {
  const large = `{"a":"${"x".repeat(LIMITS.valueBytes)}"}`;
  expect(parseActions([update(large)])).toMatchObject({ cause: "memory_too_large" });
  const half = `{"a":"${"x".repeat(LIMITS.valueBytes / 2)}"}`;
  expect(parseActions([update(half)])).toMatchObject({ ok: true });
  expect(parseActions([update(half), update(half)])).toMatchObject({ cause: "memory_too_large" });
});

test("an outcome has a bounded number of actions", () => {
  const many = (count: number) => parseActions(Array.from({ length: count }, () => update("{}")));
  expect(many(LIMITS.actions)).toMatchObject({ ok: true });
  expect(many(LIMITS.actions + 1)).toMatchObject({ ok: false, cause: "action_invalid" });
});

test.each([
  [status, goto],
  [goto, goto],
  [goto, handoff],
  [handoff, ask],
  [ask, status],
  [answer, answer],
  [status, answer],
])("%j does not go with %j (S2.37)", (a, b) => {
  for (const pair of [
    [a, b],
    [b, a],
  ])
    expect(parseActions(pair)).toMatchObject({
      cause: "action_invalid",
      message: expect.stringContaining("cannot come together") as string,
    });
});

test.each([
  { ...handoff, node: "both" },
  { ...handoff, workflow: "" },
  { ...answer, approvalId: "01890000-0000-7000-8000-000000000000" },
  { ...merge, nodes: ["n"] },
  { ...merge, into: "constructor" },
  { ...merge, strategy: "sum" },
  { ...ask, message: "" },
  { ...ask, deadlineMs: -1 },
  { ...ask, deadlineMs: Number.NaN },
  { ...goto, node: "" },
  { ...answer, decision: "perhaps" },
])("%j is refused", (action) => {
  expect(parseActions([action])).toMatchObject({ ok: false, cause: "action_invalid" });
});
