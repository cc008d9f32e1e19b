import { expect, test } from "vitest";
import type { ParentFailurePolicy } from "./parent-failure.ts";
import { resolveInputs, type Binding } from "./inputs.ts";

const binding = (source: string, more: Partial<Binding> = {}): Binding => ({
  source,
  sourceLabel: source.toUpperCase(),
  sourceHandle: null,
  sourceOutputKey: "output",
  targetParamLabel: "p",
  mergeStrategy: null,
  ...more,
});
const context = {
  input: null,
  nodes: { a: { text: "A", output: "inner" }, b: "B", c: "C" },
  vars: {},
  handles: { c: "left" },
};
const resolve = (
  bindings: Binding[],
  options: { merge?: Binding["mergeStrategy"]; policy?: ParentFailurePolicy } = {},
): unknown => {
  const resolved = resolveInputs(
    bindings,
    context,
    options.merge ?? null,
    options.policy ?? "propagate",
  );
  return resolved.ok ? resolved.params : `${resolved.reason} ${resolved.path}`;
};

test("an edge binds a whole output or a path into it (S1.3, S1.14)", () => {
  expect(resolve([binding("a")])).toEqual({ p: { text: "A", output: "inner" } });
  expect(resolve([binding("a", { sourceOutputKey: "text" })])).toEqual({ p: "A" });
  expect(resolve([binding("a", { targetParamLabel: null })])).toEqual({});
});

test("edges that share a parameter are merged in edge order (S1.14, S1.33)", () => {
  const both = [binding("b"), binding("a", { sourceOutputKey: "text" })];
  expect(resolve(both)).toEqual({ p: "A" });
  expect(resolve(both, { merge: "concat" })).toEqual({ p: "B\n\nA" });
  expect(
    resolve([binding("b", { mergeStrategy: "array" }), binding("a", { sourceOutputKey: "text" })]),
  ).toEqual({
    p: ["B", "A"],
  });
  expect(resolve(both, { merge: "json_object" })).toEqual({ p: { A: "A", B: "B" } });
});

test("the type of a merged parameter does not depend on who led here", () => {
  expect(resolve([binding("b"), binding("gone")], { merge: "array" })).toEqual({ p: ["B"] });
});

test("a parent that left by another handle binds nothing", () => {
  expect(resolve([binding("c", { sourceHandle: "right" })])).toEqual({});
  expect(resolve([binding("c", { sourceHandle: "left" })])).toEqual({ p: "C" });
  expect(resolve([binding("c")])).toEqual({ p: "C" });
});

test("a missing parent is '' under substitute_default and absent otherwise (S1.25)", () => {
  expect(resolve([binding("gone")])).toEqual({});
  expect(resolve([binding("gone")], { policy: "substitute_default" })).toEqual({ p: "" });
});

test("a path with nothing at it names itself", () => {
  expect(resolve([binding("a", { sourceOutputKey: "nope.x" })])).toBe("missing_variable a.nope.x");
  expect(
    resolve([binding("a", { sourceOutputKey: "nope" })], { policy: "substitute_default" }),
  ).toEqual({ p: "" });
});
