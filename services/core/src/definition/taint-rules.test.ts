import { expect, test } from "vitest";
import { parseDefinition } from "./parse.ts";

function faultsOf(definition: object) {
  const parsed = parseDefinition(
    JSON.stringify({ nodes: [{ id: "a", type: "noop" }], ...definition }, null, 1),
  );
  return parsed.ok
    ? []
    : parsed.violations.map(({ path, reason, position }) => [path, reason, position?.line ?? 0]);
}

const policy = (more: object) => ({
  policies: [{ action: "deny", nodes: ["a"], if_tainted_by: ["web"], ...more }],
});

test("a policy of a node and a type of the workflow is taken (S2.42)", () => {
  expect(faultsOf(policy({ types: ["noop"], message: "m" }))).toEqual([]);
  expect(faultsOf(policy({ action: "hold", if_tainted_by: ["*"] }))).toEqual([]);
});

test.each([
  [{ nodes: ["b"] }, "policies[0].nodes[0]", "UNKNOWN_NODE"],
  [{ types: ["acme.pay"] }, "policies[0].types[0]", "UNKNOWN_TYPE"],
  [{ nodes: [] }, "policies[0]", "EMPTY_POLICY"],
  [{ if_tainted_by: ["Web"] }, "policies[0].if_tainted_by[0]", "BAD_LABEL"],
  [{ if_tainted_by: ["__proto__"] }, "policies[0].if_tainted_by[0]", "BAD_LABEL"],
])("a policy %j is refused at its line (S2.42)", (more, path, reason) => {
  const [fault] = faultsOf(policy(more));
  expect(fault).toEqual([path, reason, expect.any(Number)]);
  expect(fault?.[2]).toBeGreaterThan(1);
});

test.each([[{ action: "allow" }], [{ if_tainted_by: [] }], [{ extra: 1 }]])(
  "a policy %j is refused (S2.42)",
  (more) => {
    expect(faultsOf(policy(more))).toHaveLength(1);
  },
);

test("a sanitize node needs a value, labels and a reason, and its pattern compiles (S2.42)", () => {
  const node = (config: object) => ({ nodes: [{ id: "a", type: "sanitize", config }] });
  const whole = { value: "{{ ctx.input }}", drop: ["web"], reason: "checked" };
  expect(faultsOf(node(whole))).toEqual([]);
  expect(faultsOf(node({ ...whole, reason: " " }))).toMatchObject([
    ["nodes[0].config.reason", "REQUIRED", expect.any(Number)],
  ]);
  expect(faultsOf(node({ ...whole, pattern: "(" }))).toMatchObject([
    ["nodes[0].config.pattern", "CONTRACT_PATTERN", expect.any(Number)],
  ]);
  for (const key of ["value", "drop", "reason"])
    expect(faultsOf(node({ ...whole, [key]: undefined }))).toHaveLength(1);
  expect(faultsOf(node({ ...whole, drop: ["no label"] }))).toHaveLength(1);
});

test.each(["Web", "a b", "", "*", "__proto__", "x".repeat(65)])(
  "%j is no label of a node (S2.40)",
  (label) => {
    expect(faultsOf({ nodes: [{ id: "a", type: "noop", taint: [label] }] })).toMatchObject([
      ["nodes[0].taint[0]", "BAD_LABEL", expect.any(Number)],
    ]);
  },
);
